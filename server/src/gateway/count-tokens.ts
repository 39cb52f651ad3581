import { chat } from './chat'
import type { Call, Ports } from './job'
import type { Dialect } from '../dialects/dialect'
import { estimateAround, estimatePrompt, textsOf } from '../metering/estimate'
import { candidatesOf, findModel } from '../routing/candidate'
import { ChatRequest } from '../wire/chat-request'
import { refuseCircle } from '../wire/hops'
import { check } from '../wire/json-body'

/** Longer than where tokens are only a check: the number is all that is wanted. */
const countingMs = 5000

/**
 * Tokens of a prompt, as near as can be told without the model: free, but a request like any other
 * to the limits of its caller. Rejects as the first stages of `gateway.ts` do.
 */
export async function countTokens(dialect: Dialect, call: Call, ports: Ports): Promise<number> {
  const principal = await ports.door.enter(call, 'write')
  refuseCircle(call.hops)
  const admission = await ports.limits.admit(principal)
  call.tell(admission.quota)
  try {
    const { body } = await call.readBody(chat.limitBytes)
    const translation = dialect.read(body)
    const request = check(ChatRequest, translation.chat)
    const { snapshot } = ports.catalog
    const model = findModel(snapshot, request.model, chat.kinds)
    candidatesOf(snapshot, model, ports.settings.current)
    const asked = textsOf(request)
    const counted = await ports.counter.count(asked.texts, { deadlineMs: countingMs })
    if (counted === undefined) return estimatePrompt(translation.chat)
    return counted + estimateAround(asked)
  } finally {
    admission.release()
  }
}
