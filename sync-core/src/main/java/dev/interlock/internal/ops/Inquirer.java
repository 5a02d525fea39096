package dev.interlock.internal.ops;

import com.google.common.base.Splitter;
import com.google.common.collect.Lists;
import com.google.common.collect.Sets;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.Stake;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import dev.interlock.ops.Deadlock;
import dev.interlock.ops.NameView;
import dev.interlock.ops.NameView.Holder;
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
import java.util.function.LongFunction;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks all sessions what they have, and answers for this one. Which sessions there are, Redis tells: those whose
 * mailboxes have subscribers. Questions and answers are messages in the mailboxes; one that gets lost makes a session
 * look silent.
 */
public final class Inquirer implements Operator {
    private static final Logger log = LoggerFactory.getLogger(Inquirer.class);
    private static final long ANSWER_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final int MOST_NAMES = 10_000;

    /** How many names Redis is asked for at a time, so that other commands do not wait long. */
    private static final int AT_ONCE = 100;

    private static final RareLog UNSEEN = new RareLog();
    private static final RareLog UNSAID = new RareLog();
    private static final Script SESSIONS = Script.load("session/sessions");
    private static final Script WHO = Script.load("lock/who");

    private final RedisSession session;
    private final Answer self;
    private final long openedNanos;
    private final AtomicLong numbers = new AtomicLong();
    private final ConcurrentMap<Long, Inquiry> inquiries = new ConcurrentHashMap<>();

    /** A question that waits for its answers. */
    private static final class Inquiry {
        final Set<String> sessions;
        final Map<String, String> reports = new ConcurrentHashMap<>();
        final CompletableFuture<Boolean> complete = new CompletableFuture<>();

        Inquiry(Set<String> sessions) {
            this.sessions = sessions;
        }

        void answered(String from, String report) {
            reports.put(from, report);
            if (reports.keySet().containsAll(sessions)) {
                complete.complete(true);
            }
        }
    }

    /** Creates what asks and answers for a session. */
    public Inquirer(RedisSession session) {
        this.session = session;
        this.openedNanos = session.now();
        this.self = Answer.ofThisProcess(session.settings().sessionName());
        session.onInquiry(this::receive);
    }

    private void receive(Mail mail) {
        if (mail instanceof Mail.Question question) {
            session.execute(() -> answer(question));
        } else if (mail instanceof Mail.Report report) {
            Inquiry inquiry = inquiries.get(report.number());
            if (inquiry != null) {
                inquiry.answered(report.from(), report.report());
            }
        }
    }

    // ---- answering

    private void answer(Mail.Question question) {
        Predicate<String> wanted = wanted(question.wanted());
        List<Stake> stakes = session.participants().stream()
                .map(participant -> participant.stake(name -> wanted.test(session.key(name))))
                .flatMap(Stream::ofNullable)
                .filter(stake -> !stake.isEmpty())
                .map(stake -> stake.named(session.key(stake.name())))
                .limit(MOST_NAMES)
                .toList();
        long ageMillis = TimeUnit.NANOSECONDS.toMillis(session.now() - openedNanos);
        String report = self.with(ageMillis, stakes).text();
        session.send(question.asker(), new Mail.Report(question.number(), session.id(), report).text())
                .whenComplete((sent, failure) -> {
                    if (failure != null && !Failures.isTransient(failure)) {
                        String why = Failures.brief(failure);
                        UNSAID.say(why, often -> log.warn("An operator was not answered: {}{}", why, often));
                    }
                });
    }

    private static Predicate<String> wanted(String text) {
        if (text.isEmpty()) {
            return name -> false;
        }
        String pattern = text.substring(1);
        return text.charAt(0) == '=' ? pattern::equals : name -> Glob.matches(pattern, name);
    }

    // ---- asking

    @Override
    public List<SessionView> sessions() {
        List<SessionView> views = new ArrayList<>();
        ask("").forEach((id, answer) ->
                views.add(answer == null ? new SessionView(id, null, null, 0, null) : answer.session(id)));
        return views;
    }

    @Override
    public List<NameView> find(String glob) {
        if (glob.length() > Glob.MOST_CHARACTERS) {
            throw new IllegalArgumentException(
                    "glob must be at most " + Glob.MOST_CHARACTERS + " characters long, but has " + glob.length());
        }
        Keys.checkName("glob", glob);
        Map<String, @Nullable Answer> answers = ask("~" + session.key(glob));
        return views(answers, new TreeSet<>());
    }

    @Override
    public List<NameView> inspect(String name) {
        return views(ask("=" + session.key(name)), sites(name));
    }

    private List<NameView> views(Map<String, @Nullable Answer> answers, Set<Site> sites) {
        for (Answer answer : answers.values()) {
            if (answer != null) {
                answer.stakes().forEach(stake -> sites.add(Site.of(stake)));
            }
        }
        List<NameView> views = new ArrayList<>();
        for (List<Site> some : Lists.partition(List.copyOf(sites), AT_ONCE)) {
            views.addAll(look(some, answers));
        }
        views.removeIf(view -> view.holders().isEmpty() && view.waiters().isEmpty());
        return views;
    }

    private List<NameView> look(List<Site> sites, Map<String, @Nullable Answer> answers) {
        List<Site> locks = sites.stream().filter(Site::isLock).toList();
        List<List<Object>> who =
                answersTo(locks.stream().map(site -> WHO.on(site.keys(session))).toList());
        List<NameView> views = new ArrayList<>();
        for (Site site : sites) {
            int place = locks.indexOf(site);
            views.add(
                    place < 0
                            ? site.view(answers, List.of(), List.of())
                            : site.view(
                                    answers,
                                    words(who.get(place).get(0)),
                                    words(who.get(place).get(1))));
        }
        return views;
    }

    private static Set<Site> sites(String name) {
        Keys.checkName("name", name);
        return new TreeSet<>(List.of(new Site(name, Site.LOCK), new Site(name, Site.READ_WRITE)));
    }

    @Override
    public List<Deadlock> deadlocks() {
        Set<Deadlock> seen = Cycles.in(ask("~" + session.key("*")));
        if (!seen.isEmpty()) {
            // What has come together from answers of different moments doesn't come together again.
            seen.retainAll(Cycles.in(ask("~" + session.key("*"))));
        }
        return List.copyOf(seen);
    }

    /**
     * Looks for deadlocks again and again until the session ends, and tells of each once. A look waits for answers, so
     * it has a thread of its own: the timer renews leases, and listeners are to hear of a loss at once.
     */
    public void watch(long millis) {
        watch(millis, Set.of());
    }

    private void watch(long millis, Set<Deadlock> known) {
        session.schedule(
                () -> {
                    Thread look = new Thread(() -> watch(millis, lookedAgain(known)), "interlock-deadlocks");
                    look.setDaemon(true);
                    look.start();
                },
                millis);
    }

    private Set<Deadlock> lookedAgain(Set<Deadlock> known) {
        try {
            Set<Deadlock> found = Set.copyOf(deadlocks());
            for (Deadlock deadlock : Sets.difference(found, known)) {
                log.warn("These threads wait for each other: {}", deadlock.steps());
                session.listeners().execute(() -> session.settings().listener().deadlocked(deadlock));
            }
            return found;
        } catch (RuntimeException e) {
            // An outage is logged by itself.
            if (!(e instanceof RedisUnavailableException) && !session.isClosed()) {
                UNSEEN.say(session.id(), often -> log.warn("Deadlocks could not be looked for{}", often, e));
            }
            return known;
        }
    }

    @Override
    public boolean forceRelease(String name, long token) {
        if (token < 1) {
            throw new IllegalArgumentException("token must be 1 or more, but is " + token);
        }
        for (Site site : sites(name)) {
            String key = (String) site.keys(session).get(0);
            NameView seen = look(List.of(site), ask("=" + session.key(name))).get(0);
            for (Holder holder : seen.holders()) {
                if (holder.token() == token && isEvicted(holder.session(), key, token)) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean isEvicted(String holder, String key, long token) {
        Map<String, String> reports =
                reports(Set.of(holder), number -> new Mail.Eviction(key, number, token, session.id()).text());
        return "1".equals(reports.get(holder));
    }

    private static List<String> words(Object text) {
        return Splitter.on(' ').omitEmptyStrings().splitToList((String) text);
    }

    /**
     * Returns what each session has answered, null if it was silent, in the order of their ids. Sessions of different
     * namespaces understand each other by keys.
     */
    private Map<String, @Nullable Answer> ask(String wanted) {
        session.ensureOpen();
        Set<String> ids = new TreeSet<>();
        List<Call> calls = session.runner().routes().stream()
                .map(route -> SESSIONS.on(List.of(route)))
                .toList();
        answersTo(calls).forEach(answer -> answer.forEach(id -> ids.add((String) id)));
        Map<String, String> reports = reports(ids, number -> new Mail.Question(number, session.id(), wanted).text());
        Map<String, @Nullable Answer> answers = new TreeMap<>();
        ids.forEach(id -> answers.put(id, Answer.parse(reports.get(id), session.key(""))));
        return answers;
    }

    /** Puts a question to sessions, and returns what these report in time. */
    private Map<String, String> reports(Set<String> ids, LongFunction<String> question) {
        long number = numbers.incrementAndGet();
        Inquiry inquiry = new Inquiry(ids);
        inquiries.put(number, inquiry);
        try {
            ids.forEach(id -> session.send(id, question.apply(number)).whenComplete((sent, failure) -> {
                if (failure != null && !Failures.isTransient(failure)) {
                    inquiry.complete.completeExceptionally(failure);
                }
            }));
            RemoteWait.forAnswer(session, inquiry.complete, ANSWER_NANOS);
        } finally {
            inquiries.remove(number);
        }
        if (inquiry.complete.isCompletedExceptionally()) {
            throw refusal(Failures.of(inquiry.complete));
        }
        return inquiry.reports;
    }

    private List<List<Object>> answersTo(List<Call> calls) {
        // Once more, since a batch fails if Redis has forgotten one of its scripts, and only then loads it.
        CompletableFuture<List<List<Object>>> replies = replies(calls)
                .exceptionallyCompose(failure ->
                        Failures.isTransient(failure) ? replies(calls) : CompletableFuture.failedFuture(failure));
        return session.answer(replies, "an operator's question");
    }

    private CompletableFuture<List<List<Object>>> replies(List<Call> calls) {
        List<CompletableFuture<List<Object>>> replies = session.runner().runAll(calls);
        return CompletableFuture.allOf(replies.toArray(CompletableFuture<?>[]::new))
                .thenApply(done -> replies.stream().map(CompletableFuture::join).toList());
    }

    private static IllegalStateException refusal(Throwable cause) {
        return Failures.refusal("to answer an operator's question", cause);
    }
}
