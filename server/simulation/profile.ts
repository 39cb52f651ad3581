import { messageFaults, type MessageFaults } from './database'
import type { Random } from './random'

/** The kinds of faults in a run. */
export type FaultKind =
  | 'account locked'
  | 'lease locked'
  | 'commits stall'
  | 'database frozen'
  | 'database away'
  | 'database restarts'
  | 'node cut off'
  | 'node frozen'
  | 'node killed'
  | 'node loses power'
  | 'node restarts'
  | 'clock jumps'
  | 'disk full'
  | 'syncs stall'

/** Faults that only delay requests that can be paid. */
const patientKinds: readonly FaultKind[] = ['account locked', 'lease locked', 'commits stall']

export const faultKinds: readonly FaultKind[] = [
  ...patientKinds,
  'database frozen',
  'database away',
  'database restarts',
  'node cut off',
  'node frozen',
  'node killed',
  'node loses power',
  'node restarts',
  'clock jumps',
  'disk full',
  'syncs stall',
]

/** The parameters of one run, derived from its seed. */
export interface Profile {
  nodes: number
  accounts: number
  /** Round trip to the database, in milliseconds. */
  roundTripMs: number
  /** Mean time between two faults of a kind, in milliseconds; absent kinds never happen. */
  faults: ReadonlyMap<FaultKind, number>
  messages: MessageFaults
  /** Mean time between two requests of an account, in milliseconds. */
  requestEveryMs: number
  /** Whether each node has one caller of each account, who sends a request after the other instead. */
  isCalledInTurn?: boolean
  /** The maximum duration of an upstream request. */
  upstreamMs: number
  /** Nano-dollars: the amount of a top-up, and the minimum balance for any request. */
  topUp: number
  minimum: bigint
  /** The largest hold of a request. */
  largestHold: number
}

const noMessageFaults: MessageFaults = {
  lateStatement: 0,
  lostStatement: 0,
  lostAnswer: 0,
  repeatedStatement: 0,
  lostNotification: 0,
}

/** Draws a profile. Each run has only a few kinds of faults, as faults can mask each other. */
export function drawProfile(random: Random): Profile {
  const isPatient = random.chance(0.4)
  const possible = isPatient ? patientKinds : faultKinds
  const faults = new Map<FaultKind, number>()
  for (const kind of possible) {
    if (random.chance(isPatient ? 0.5 : 0.3)) faults.set(kind, random.logarithmic(5_000, 600_000))
  }
  const messages = { ...noMessageFaults }
  if (!isPatient) {
    for (const kind of messageFaults) {
      if (random.chance(0.4)) messages[kind] = random.logarithmic(0.001, 0.1)
    }
  } else if (random.chance(0.3)) {
    messages.lostNotification = random.logarithmic(0.01, 1)
  }
  return {
    nodes: random.pick([1, 2, 2, 3, 3, 5]),
    accounts: random.integer(1, 3),
    roundTripMs: random.pick([0.4, 0.4, 0.4, 5, 30, 200, 500]),
    faults,
    messages,
    requestEveryMs: random.logarithmic(150, 20_000),
    upstreamMs: random.logarithmic(100, 20_000),
    topUp: Math.round(random.logarithmic(20_000, 5_000_000)),
    minimum: random.pick([0n, 0n, 100_000n]),
    largestHold: Math.round(random.logarithmic(500, 60_000)),
  }
}

/** Tells whether no message is delayed, lost or repeated. */
export const isReliable = ({ messages }: Profile): boolean =>
  Object.values(messages).every((rate) => rate === 0)

/** Tells whether no fault of a run justifies a failed request, except for want of credit. */
export const isPatient = ({ faults, messages }: Profile): boolean =>
  [...faults.keys()].every((kind) => patientKinds.includes(kind)) &&
  Object.entries(messages).every(([kind, rate]) => rate === 0 || kind === 'lostNotification')
