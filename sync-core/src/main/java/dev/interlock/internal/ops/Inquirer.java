package dev.interlock.internal.ops;

import static java.util.Objects.requireNonNull;

import com.google.common.base.Splitter;
import com.google.common.collect.Lists;
import com.google.common.collect.Sets;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Presence;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.Stake;
import dev.interlock.internal.ops.Answer.Part;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.RedissonMailbox;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.session.Participant;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.ops.Deadlock;
import dev.interlock.ops.FleetView;
import dev.interlock.ops.NameView;
import dev.interlock.ops.Operator;
import dev.interlock.ops.SessionView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks all sessions what they have, and answers for this one. Which sessions there are, Redis tells: those whose
 * mailboxes have subscribers, with who they are. Questions and answers are messages in the mailboxes; one that gets
 * lost makes a session look silent.
 */
public final class Inquirer implements Operator {
    private static final Logger log = LoggerFactory.getLogger(Inquirer.class);
    private static final Duration WAIT = Duration.ofSeconds(1);

    /** How many names Redis is asked for at a time, so that other commands do not wait long. */
    private static final int AT_ONCE = 100;

    /** How many names a session looks at in a row, on the thread that renews its leases, and reports in one message. */
    private static final int IN_A_ROW = 500;

    private static final RareLog UNSEEN = new RareLog();
    private static final RareLog UNSAID = new RareLog();
    private static final Script SESSIONS = Script.load("session/sessions");
    private static final Script WHO = Script.load("lock/who");

    private final RedisSession session;
    private final Presence presence;
    private final long openedNanos;
    private final AtomicLong numbers;
    private final ConcurrentMap<Long, Inquiry> inquiries;
    private final long waitNanos;

    /** Creates what asks and answers for a session. */
    public Inquirer(RedisSession session) {
        this.session = session;
        this.openedNanos = session.now();
        this.presence = Presence.ofThisProcess(session.settings().sessionName());
        this.numbers = new AtomicLong();
        this.inquiries = new ConcurrentHashMap<>();
        this.waitNanos = WAIT.toNanos();
        session.onInquiry(this::receive);
    }

    private Inquirer(Inquirer other, long waitNanos) {
        this.session = other.session;
        this.openedNanos = other.openedNanos;
        this.presence = other.presence;
        this.numbers = other.numbers;
        this.inquiries = other.inquiries;
        this.waitNanos = waitNanos;
    }

    /** Returns what asks in the same way, and waits so long for answers. */
    public Operator waiting(Duration wait) {
        return new Inquirer(this, wait.toNanos());
    }

    private void receive(Mail mail) {
        if (mail instanceof Mail.Question question) {
            session.execute(() -> answer(question));
        } else if (mail instanceof Mail.Report report) {
            Inquiry inquiry = inquiries.get(report.number());
            if (inquiry != null) {
                inquiry.reported(report.from(), report.report());
            }
        }
    }

    // ---- answering

    private void answer(Mail.Question question) {
        answer(
                question,
                question.wanted().isEmpty()
                        ? List.<Participant>of().iterator()
                        : session.participants().iterator(),
                0);
    }

    /** Reports some of what the session has, and then the rest: leases are renewed in between. */
    private void answer(Mail.Question question, Iterator<Participant> rest, int number) {
        Predicate<String> wanted = wanted(question.wanted());
        List<Stake> stakes = new ArrayList<>();
        for (int looked = 0; looked < IN_A_ROW && rest.hasNext(); looked++) {
            Stake stake = rest.next().stake(name -> wanted.test(session.key(name)));
            if (stake != null && !stake.isEmpty()) {
                stakes.add(stake.named(session.key(stake.name())));
            }
        }
        boolean isLast = !rest.hasNext();
        boolean isSaid = isLast || !stakes.isEmpty();
        if (isSaid) {
            report(question, new Part(number, isLast), stakes);
        }
        if (!isLast) {
            session.execute(() -> answer(question, rest, isSaid ? number + 1 : number));
        }
    }

    private void report(Mail.Question question, Part part, List<Stake> stakes) {
        long ageMillis = TimeUnit.NANOSECONDS.toMillis(session.now() - openedNanos);
        String report = Answer.text(presence, ageMillis, part, stakes);
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
        return sessions(ask(""));
    }

    private static List<SessionView> sessions(Map<String, Answer> answers) {
        List<SessionView> views = new ArrayList<>();
        answers.forEach((id, answer) -> views.add(answer.session(id)));
        return List.copyOf(views);
    }

    @Override
    public FleetView look(String glob) {
        if (glob.length() > Glob.MOST_CHARACTERS) {
            throw new IllegalArgumentException(
                    "glob must be at most " + Glob.MOST_CHARACTERS + " characters long, but has " + glob.length());
        }
        Keys.checkName("glob", glob);
        String wanted = "~" + session.key(glob);
        Map<String, Answer> answers = ask(wanted);
        List<NameView> names = views(answers, Set.of());
        return new FleetView(sessions(answers), names, confirmed(Cycles.in(answers), wanted));
    }

    @Override
    public List<NameView> find(String glob) {
        return look(glob).names();
    }

    @Override
    public FleetView lookAt(String name) {
        Set<Site> sites = sites(name);
        Map<String, Answer> answers = ask("=" + session.key(name));
        return new FleetView(sessions(answers), views(answers, sites), List.of());
    }

    @Override
    public List<NameView> inspect(String name) {
        return lookAt(name).names();
    }

    /** Returns what sessions have told of the names that they have, and of others. */
    private List<NameView> views(Map<String, Answer> answers, Set<Site> others) {
        SortedMap<Site, Map<String, Stake>> stakes = new TreeMap<>();
        others.forEach(site -> stakes.put(site, Map.of()));
        answers.forEach((id, answer) -> answer.stakes()
                .forEach(stake -> stakes.compute(Site.of(stake), (site, before) -> {
                    Map<String, Stake> all = before == null || before.isEmpty() ? new TreeMap<>() : before;
                    all.put(id, stake);
                    return all;
                })));
        List<NameView> views = new ArrayList<>();
        for (List<Site> some : Lists.partition(List.copyOf(stakes.keySet()), AT_ONCE)) {
            Iterator<List<Object>> known = answersTo(some.stream()
                            .filter(Site::isLock)
                            .map(site -> WHO.on(site.keys(session)))
                            .toList())
                    .iterator();
            for (Site site : some) {
                List<Object> who = site.isLock() ? known.next() : List.of("", "");
                views.add(site.view(answers, requireNonNull(stakes.get(site)), words(who.get(0)), words(who.get(1))));
            }
        }
        views.removeIf(view -> view.holders().isEmpty() && view.waiters().isEmpty());
        return List.copyOf(views);
    }

    private static Set<Site> sites(String name) {
        Keys.checkName("name", name);
        return new TreeSet<>(List.of(new Site(name, Site.LOCK), new Site(name, Site.READ_WRITE)));
    }

    @Override
    public List<Deadlock> deadlocks() {
        String all = "~" + session.key("*");
        return confirmed(Cycles.in(ask(all)), all);
    }

    private List<Deadlock> confirmed(Set<Deadlock> seen, String wanted) {
        if (!seen.isEmpty()) {
            // What has come together from answers of different moments doesn't come together again.
            seen.retainAll(Cycles.in(ask(wanted)));
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
        Map<String, Answer> answers = ask("=" + session.key(name));
        for (Site site : sites(name)) {
            String key = (String) site.keys(session).get(0);
            boolean isReleased = answers.entrySet().stream()
                    .filter(entry -> entry.getValue().stakes().stream()
                            .filter(stake -> Site.of(stake).equals(site))
                            .flatMap(stake -> stake.holds().stream())
                            .anyMatch(hold -> hold.token() == token))
                    .anyMatch(entry -> isEvicted(entry.getKey(), key, token));
            if (isReleased) {
                return true;
            }
        }
        return false;
    }

    private boolean isEvicted(String holder, String key, long token) {
        Inquiry inquiry = put(Set.of(holder), number -> new Mail.Eviction(key, number, token, session.id()).text());
        return "1".equals(inquiry.report(holder));
    }

    private static List<String> words(Object text) {
        return Splitter.on(' ').omitEmptyStrings().splitToList((String) text);
    }

    /**
     * Returns what each session has answered, in the order of their ids. Sessions of different namespaces understand
     * each other by keys.
     */
    private Map<String, Answer> ask(String wanted) {
        session.ensureOpen();
        Set<String> ids = new TreeSet<>();
        Map<String, Presence> known = new HashMap<>();
        List<Call> calls = session.runner().routes().stream()
                .map(route -> SESSIONS.on(List.of(route)))
                .toList();
        answersTo(calls).forEach(channels -> RedissonMailbox.read(channels, ids, known));
        Inquiry inquiry = put(ids, number -> new Mail.Question(number, session.id(), wanted).text());
        Map<String, Answer> answers = new TreeMap<>();
        ids.forEach(id ->
                answers.put(id, inquiry.answer(id, known.getOrDefault(id, Presence.UNKNOWN), session.key(""))));
        return answers;
    }

    /** Puts a question to sessions, and returns it with what these have reported in time. */
    private Inquiry put(Set<String> ids, LongFunction<String> question) {
        long number = numbers.incrementAndGet();
        Inquiry inquiry = new Inquiry(ids);
        inquiries.put(number, inquiry);
        try {
            ids.forEach(id -> session.send(id, question.apply(number)).whenComplete((sent, failure) -> {
                if (failure != null && !Failures.isTransient(failure)) {
                    inquiry.refused(failure);
                }
            }));
            Throwable refusal = inquiry.await(session, waitNanos);
            if (refusal != null) {
                throw Failures.refusal("to answer an operator's question", refusal);
            }
        } finally {
            inquiries.remove(number);
        }
        return inquiry;
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
}
