import type { SettledRange } from '../../journal/settled-range'

/** A message of a worker to its launcher. */
export type FromWorker =
  | { kind: 'listening'; port: number }
  /** Sent each second. */
  | { kind: 'alive' }
  /** The id of this worker among the nodes of the tunnel: messages to it come with it from now on. */
  | { kind: 'node'; node: string }
  /** A message to another node; the reply is whether a worker with that id received it. */
  | { kind: 'publish'; id: number; node: string; text: string }
  /** A text that another worker takes once; the reply is whether it was stored. */
  | { kind: 'put'; id: number; key: string; text: string }
  /** The reply is the text, or undefined. */
  | { kind: 'take'; id: number; key: string }
  | { kind: 'drop'; key: string }
  /** Rows of the worker's journal to book; the reply is a `BookingReply`. */
  | { kind: 'book'; id: number; range: SettledRange }
  | Reply

/** A message of a launcher to a worker. */
export type FromLauncher =
  /** Print the first screen, for all workers. */
  | { kind: 'greet' }
  /** A message of another worker. */
  | { kind: 'message'; text: string }
  | { kind: 'ask'; id: number; about: WorkerQuestion }
  | Reply

/** A question of the launcher to its workers, for its metrics listener. */
export type WorkerQuestion = 'metrics' | 'readiness'

/** The reply to a message with an id. */
interface Reply {
  kind: 'reply'
  id: number
  value: unknown
}

const isMessage = (message: unknown): message is { kind: unknown } =>
  typeof message === 'object' && message !== null && 'kind' in message

/** Both ends are this program, though not always of one version: a kind that is unknown here is left out. */
export const isFromWorker = (message: unknown): message is FromWorker => isMessage(message)

/** As `isFromWorker`. */
export const isFromLauncher = (message: unknown): message is FromLauncher => isMessage(message)
