package dev.interlock.internal.ops;

import com.google.common.base.Splitter;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Stake;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import dev.interlock.ops.NameView;
import dev.interlock.ops.Operator;
import dev.interlock.ops.SessionView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Asks all sessions what they have, and answers for this one. Which sessions there are, Redis tells: those whose
 * mailboxes have subscribers. Questions and answers are messages in the mailboxes; one that gets lost makes a session
 * look silent.
 */
public final class Inquirer implements Operator {
    private static final long ANSWER_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final int MOST_NAMES = 1_000;

    /** A key that nothing has: it only says where a script runs. */
    private static final String ANY = "interlock:any";

    private static final Script SESSIONS = Script.load("session/sessions");
    private static final Script TELL = Script.load("session/tell");
    private static final Script WHO = Script.load("lock/who");

    private final RedisSession session;
    private final Answer self;
    private final long openedNanos;
    private final AtomicLong numbers = new AtomicLong();
    private final ConcurrentMap<Long, Inquiry> inquiries = new ConcurrentHashMap<>();

    /** A question that waits for its answers. */
    private static final class Inquiry {
        final Set<String> sessions;
        final Map<String, Answer> answers = new ConcurrentHashMap<>();
        final CompletableFuture<Boolean> complete = new CompletableFuture<>();

        Inquiry(Set<String> sessions) {
            this.sessions = sessions;
        }

        void answered(String from, Answer answer) {
            answers.put(from, answer);
            if (answers.keySet().containsAll(sessions)) {
                complete.complete(true);
            }
        }
    }

    /** Creates what asks and answers for a session. */
    public Inquirer(RedisSession session) {
        this.session = session;
        this.openedNanos = session.now();
        this.self = Answer.ofThisProcess();
        session.onInquiry(this::receive);
    }

    private void receive(Mail mail) {
        if (mail instanceof Mail.Question question) {
            session.execute(() -> answer(question));
        } else if (mail instanceof Mail.Report report) {
            Inquiry inquiry = inquiries.get(report.number());
            if (inquiry != null) {
                inquiry.answered(report.from(), Answer.parse(report.report()));
            }
        }
    }

    // ---- answering

    private void answer(Mail.Question question) {
        Predicate<String> wanted = wanted(question.wanted());
        List<Stake> stakes = session.participants().stream()
                .map(participant -> participant.stake(wanted))
                .flatMap(Stream::ofNullable)
                .filter(stake -> !stake.isEmpty())
                .limit(MOST_NAMES)
                .toList();
        long ageMillis = TimeUnit.NANOSECONDS.toMillis(session.now() - openedNanos);
        String report = self.with(ageMillis, stakes).text();
        send(question.asker(), new Mail.Report(question.number(), session.id(), report).text());
    }

    private static Predicate<String> wanted(String text) {
        if (text.isEmpty()) {
            return name -> false;
        }
        String pattern = text.substring(1);
        return text.charAt(0) == '=' ? pattern::equals : glob(pattern).asMatchPredicate();
    }

    private static Pattern glob(String glob) {
        StringBuilder pattern = new StringBuilder();
        for (char each : glob.toCharArray()) {
            pattern.append(each == '*' ? ".*" : each == '?' ? "." : Pattern.quote(String.valueOf(each)));
        }
        return Pattern.compile(pattern.toString(), Pattern.DOTALL);
    }

    // ---- asking

    @Override
    public List<SessionView> sessions() {
        List<SessionView> views = new ArrayList<>();
        ask("").forEach((id, answer) ->
                views.add(answer == null ? new SessionView(id, null, 0, null) : answer.session(id)));
        return views;
    }

    @Override
    public List<NameView> find(String glob) {
        Keys.checkName("glob", glob);
        Map<String, @Nullable Answer> answers = ask("~" + glob);
        return views(answers, new TreeSet<>());
    }

    @Override
    public List<NameView> inspect(String name) {
        Keys.checkName("name", name);
        Set<Site> sites = new TreeSet<>(List.of(new Site(name, false), new Site(name, true)));
        return views(ask("=" + name), sites);
    }

    private List<NameView> views(Map<String, @Nullable Answer> answers, Set<Site> sites) {
        for (Answer answer : answers.values()) {
            if (answer != null) {
                answer.stakes().forEach(stake -> sites.add(Site.of(stake)));
            }
        }
        List<NameView> views = new ArrayList<>();
        for (Site site : sites) {
            List<Object> who = answerTo(WHO.on(site.keys(session)));
            NameView view = site.view(answers, words(who.get(0)), words(who.get(1)));
            if (!view.holders().isEmpty() || !view.waiters().isEmpty()) {
                views.add(view);
            }
        }
        return views;
    }

    private static List<String> words(Object text) {
        return Splitter.on(' ').omitEmptyStrings().splitToList((String) text);
    }

    /** Returns what each session has answered, null if it was silent, in the order of their ids. */
    private Map<String, @Nullable Answer> ask(String wanted) {
        session.ensureOpen();
        Set<String> ids = new TreeSet<>();
        for (String route : session.runner().routes()) {
            answerTo(SESSIONS.on(List.of(route))).forEach(id -> ids.add((String) id));
        }
        long number = numbers.incrementAndGet();
        Inquiry inquiry = new Inquiry(ids);
        inquiries.put(number, inquiry);
        try {
            String question = new Mail.Question(number, session.id(), wanted).text();
            ids.forEach(id -> send(id, question));
            RemoteWait.forAnswer(session, inquiry.complete, ANSWER_NANOS);
        } finally {
            inquiries.remove(number);
        }
        Map<String, @Nullable Answer> answers = new TreeMap<>();
        ids.forEach(id -> answers.put(id, inquiry.answers.get(id)));
        return answers;
    }

    private void send(String id, String message) {
        session.runner().run(TELL.on(List.of(ANY), id, message)).exceptionally(failure -> List.of());
    }

    private List<Object> answerTo(Call call) {
        List<Object> answer = session.await(session.runner().run(call));
        if (answer == null) {
            throw new RedisUnavailableException(
                    "Redis has not answered an operator's question within "
                            + session.settings().commandTimeoutMillis() + " ms",
                    session.outage().cause());
        }
        return answer;
    }
}
