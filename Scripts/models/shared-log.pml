/*
 * How stores append to a shared log, for the model checker spin (spinroot.com): `make model-shared`.
 *
 * Each store has saves to make, one after the other. It seals a save for the end of its own log, which gives it a
 * version (the digest), and asks the log to append it. The network delivers questions in any order, late, twice or never,
 * and loses answers. A store that hears nothing asks again with the same version, or gives up: then the save is in doubt,
 * and may be made again under the same id, sealed anew.
 *
 * Checked in every state that can be reached, for a small number of stores, saves and questions:
 *   - a store's log is a prefix of the shared one, version for version
 *   - an acknowledged save is in the log, once; no id is there twice
 *   - a save that was never asked for is not in the log
 *   - the log never has to refuse an id that it knows under another version
 * and that every store comes to its end (no deadlock).
 */

#ifndef STORES
#define STORES 2
#endif
#ifndef SAVES
#define SAVES 2
#endif
#define IDS (STORES * SAVES)
/* How often a store may seal and ask in all; more would not end. */
#ifndef TRIES
#define TRIES 4
#endif
#define LENGTH (IDS + 1)
/* How many questions may be under way. */
#ifndef WAY
#define WAY 2
#endif

/* A transaction of the log: its id from 1, and its version, unique to one sealing. The digest of the real log is
   chained, so that a version belongs to one place; this is checked below. */
byte ids[LENGTH];
byte versions[LENGTH];
byte end = 0;

/* The logs of the stores. */
byte localVersions[STORES * LENGTH];
byte localEnd[STORES];

bool asked[IDS + 1];
bool acknowledged[IDS + 1];
byte nextVersion = 1;

#define local(store, place) localVersions[(store) * LENGTH + (place)]

mtype = { appended, overtaken };

/* store, id, version, the end that is expected and its version, number of the question */
chan questions = [WAY] of { byte, byte, byte, byte, byte, byte };
/* number of the question, answer */
chan answers[STORES] = [2] of { byte, mtype };

/* A store's log is a prefix, and what is acknowledged is in the log. Nothing else changes them. */
inline checkStore() {
    byte k;
    assert(localEnd[me] <= end);
    k = 0;
    do
    :: k < localEnd[me] -> assert(local(me, k) == versions[k]); k++
    :: else -> break
    od;
    k = 0;
    do
    :: acknowledged[id] && k < end && ids[k] != id -> k++
    :: else -> break
    od;
    assert(!acknowledged[id] || k < end);
    k = 0
}

inline checkLog() {
    byte i, j;
    i = 0;
    do
    :: i < end ->
        j = i + 1;
        do
        :: j < end -> assert(ids[i] != ids[j]); j++
        :: else -> break
        od;
        assert(asked[ids[i]]);
        i++
    :: else -> break
    od;
    i = 0; j = 0
}

/* The function strata.append. */
active proctype Log() {
    byte store, id, version, expected, before, number, place;
    mtype answer;
end_log:
    do
    :: atomic {
        /* Any question that is under way, not only the oldest. */
        if
        :: questions ? store, id, version, expected, before, number
        :: questions ?? store, id, version, expected, before, 1 -> number = 1
        :: questions ?? store, id, version, expected, before, 2 -> number = 2
        fi;
        if
        /* Delivered once more later. */
        :: nfull(questions) -> questions ! store, id, version, expected, before, number
        :: true
        fi;
        place = 0;
        do
        :: place < end && versions[place] != version -> place++
        :: else -> break
        od;
        if
#ifdef FORGETS_ORDER
        /* A planted fault: the expected end is not compared. */
        :: place == end ->
#else
        :: end == expected && (end == 0 || versions[end - 1] == before) ->
#endif
            /* An id that is known under another version would be refused here. */
            assert(place == end);
            ids[end] = id;
            versions[end] = version;
            end++;
            answer = appended;
            checkLog()
        :: else ->
            if
            :: place < end ->
                assert(place == expected);
                answer = appended
            :: else ->
                assert(expected == 0 || versions[expected - 1] == before);
                answer = overtaken
            fi
        fi;
        if
        :: nfull(answers[store]) -> answers[store] ! number, answer
        /* Lost. */
        :: true
        fi;
        answer = 0; place = 0;
        /* What is left over would make states differ that do not. */
        store = 0; id = 0; version = 0; expected = 0; before = 0; number = 0
    }
    :: atomic {
        /* A question that gets lost. */
        questions ? store, id, version, expected, before, number;
        store = 0; id = 0; version = 0; expected = 0; before = 0; number = 0
    }
    od
}

proctype Store(byte me) {
    byte save = 0, id, version, tries = 0, heard, i;
    mtype answer;
next:
    if
    :: save == SAVES || tries == TRIES -> goto done
    :: else -> id = me * SAVES + save + 1
    fi;
check:
    /* The save is here already: an earlier question for it was carried out. */
    atomic {
        i = 0;
        do
        :: i < localEnd[me] && ids[i] != id -> i++
        :: else -> break
        od;
        if
        :: i < localEnd[me] -> acknowledged[id] = true; checkStore(); save++; i = 0; goto next
        :: else -> i = 0
        fi
    }
    if
    :: tries == TRIES -> goto done
    :: else
    fi;
    atomic { version = nextVersion; nextVersion++ }
ask:
    atomic {
        tries++;
        asked[id] = true;
        if
        :: nfull(questions) ->
            if
            :: localEnd[me] == 0 -> questions ! me, id, version, 0, 0, tries
            :: else -> questions ! me, id, version, localEnd[me], local(me, localEnd[me] - 1), tries
            fi
        :: full(questions)
        fi
    }
wait:
    if
    :: answers[me] ? heard, answer ->
        if
        :: heard != tries -> goto wait
        :: else
        fi;
        heard = 0;
        if
        :: answer == appended ->
            /* The commit here. */
            atomic {
                assert(ids[localEnd[me]] == id && versions[localEnd[me]] == version);
                local(me, localEnd[me]) = version;
                localEnd[me]++;
                acknowledged[id] = true;
                checkStore();
                save++;
                answer = 0; version = 0;
                goto next
            }
        :: answer == overtaken -> answer = 0; goto receive
        fi
    /* Nothing is heard. */
    :: tries < TRIES -> goto ask
    /* The save is in doubt: the app may drop it, or make it again. */
    :: true -> if :: save++ :: true fi; goto receive
    fi;
receive:
    atomic {
        version = 0;
        do
        :: localEnd[me] < end ->
            local(me, localEnd[me]) = versions[localEnd[me]];
            localEnd[me]++
        :: else -> break
        od;
        checkStore()
    }
    if
    :: save == SAVES -> goto done
    :: else -> id = me * SAVES + save + 1; goto check
    fi;
done:
    skip
}

init {
    atomic {
        byte store = 0;
        do
        :: store < STORES -> run Store(store); store++
        :: else -> break
        od
    }
}
