import type { Load } from '../load/load'
import type { Subject } from '../subjects/subject'
import { measure, requestsOf } from './measure'
import { scenarios } from './scenarios'

/** Requests until the engine has compiled hot code; a subject that is not stable by the time limit counts as warm. */
const enough = new Map([
  ['chat-64', 20_000],
  ['stream-0-200', 400],
])
const burstSeconds = 1.5

/** Sends requests until a gateway is warm, at most `maxSeconds` a kind of request. Returns their number. */
export async function warm(load: Load, subject: Subject, maxSeconds: number): Promise<number> {
  let sent = 0
  for (const scenario of scenarios) {
    const maxSent = sent + (enough.get(scenario.name) ?? 0)
    const at = { scenario: { ...scenario, minSeconds: 0 }, seconds: burstSeconds, round: 0 }
    const endsAt = performance.now() + maxSeconds * 1000
    while (sent < maxSent && performance.now() < endsAt) {
      sent += requestsOf(await measure(load, subject, at))
    }
  }
  return sent
}
