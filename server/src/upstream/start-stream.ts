import { send, type UpstreamAttempt } from './attempt'
import { UpstreamStream } from './stream'
import type { Answer } from './http/answer'
import type { RelayedStream } from '../providers/openai/relayed-stream'

/** Sends an attempt, and returns its stream once there is output. Throws `AttemptFailed`. */
export const startStream = async (
  attempt: UpstreamAttempt,
  relayed: RelayedStream,
): Promise<UpstreamStream> => readAsStream(attempt, relayed, await send(attempt))

/** Reads an answer to an attempt as its stream, and returns it once there is output. Throws `AttemptFailed`. */
export const readAsStream = (
  attempt: UpstreamAttempt,
  relayed: RelayedStream,
  answer: Answer,
): Promise<UpstreamStream> => new UpstreamStream(attempt, relayed, answer).open()
