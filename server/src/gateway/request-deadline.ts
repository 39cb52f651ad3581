import type { ValidatedRequest } from './attempt'
import type { Failover } from './failover'
import { Deadline } from '../upstream/deadline'

type Timed = Pick<ValidatedRequest<unknown>, 'call' | 'ports'>

/** The deadline of a plain request; a disconnect ends it too, unless the client may repeat the request. */
export function createAnswerDeadline({ call, ports }: Timed): Deadline {
  const deadline = new Deadline({ totalMs: ports.timers.requestMs }, ports.deadlines)
  if (!call.repeatable) deadline.follow(call.signal)
  return deadline
}

/** The deadline where a provider may be called that bills an answer even if the client disconnects. */
export function createFailoverDeadline(
  failover: Pick<Failover<ValidatedRequest<unknown>>, 'detach'> & { request: Timed },
): Deadline {
  const { call, ports } = failover.request
  const deadline = new Deadline({ totalMs: ports.timers.requestMs }, ports.deadlines)
  if (!call.repeatable) deadline.follow(call.signal, failover)
  return deadline
}
