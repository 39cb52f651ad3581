import { chat } from './chat'
import type { Call, Ports } from './job'
import { TurnSource, wholeDeadline } from './relay'
import { resolutionOf } from './resolution'
import type { Principal } from '../auth/principal'
import type { Dialect, Translation } from '../dialects/dialect'
import { estimateAround, estimatePrompt, textsOf } from '../metering/estimate'
import { chatWayOf } from '../providers/chat-way'
import { addressOf } from '../providers/line'
import { AttemptFailed, type Outgoing } from '../routing/attempt'
import type { Candidate } from '../routing/candidate'
import { exchange } from '../routing/exchange'
import { needsOf } from '../routing/needs'
import { TranslatedChat, type CallerChat } from '../wire/chat-request'
import { refuseCircle } from '../wire/hops'
import { check, isObject } from '../wire/json-body'

/** Longer than where tokens are only a check: the number is all that is wanted. */
const countingMs = 5000

/**
 * Tokens of a prompt: as the provider counts them where it speaks the caller's format, else about, by
 * their texts. Free, but a request like any other to the limits of its caller. Rejects as the first
 * stages of `gateway.ts` do.
 */
export async function countTokens(dialect: Dialect, call: Call, ports: Ports): Promise<number> {
  const principal = await ports.door.enter(call, 'write')
  call.owner = principal.accountId
  ports.budget.touch(principal.accountId)
  refuseCircle(call.hops)
  const admission = await ports.limits.admit(principal)
  call.tell(admission.quota)
  try {
    const { body } = await call.readBody(chat.limitBytes, principal.accountId)
    const translation = dialect.read(body)
    const request = check(TranslatedChat, translation.chat)
    const demands = () => ({
      needs: needsOf(translation.chat),
      misfit: async () => undefined,
      promptTokens: () => estimatePrompt(translation.chat),
    })
    const asked = { name: request.model, kinds: chat.kinds, demands }
    const { candidates } = await resolutionOf(asked, principal, ports)
    const [candidate] = candidates
    const told = candidate && (await toldBy(candidate, { call, ports, principal, translation }))
    return told ?? (await estimated(request, translation, ports))
  } finally {
    admission.release()
  }
}

async function estimated(request: CallerChat, { chat: body }: Translation, ports: Ports) {
  const asked = textsOf(request)
  const counted = await ports.counter.count(asked.texts, { deadlineMs: countingMs })
  return counted === undefined ? estimatePrompt(body) : counted + estimateAround(asked)
}

interface Counting {
  call: Call
  ports: Ports
  principal: Principal
  translation: Translation
}

/**
 * The count of a provider that speaks the caller's format; undefined where it does not, or does not
 * count. Rejects with what it says is wrong with the request.
 */
async function toldBy(candidate: Candidate, counting: Counting): Promise<number | undefined> {
  const { translation } = counting
  const { model } = candidate
  const { original } = translation
  const { adapter, url, deployment } = chatWayOf(candidate, model.upstreamModel, translation.chat)
  if (!original || adapter?.own?.format !== original.format) return undefined
  const target = { upstreamModel: model.upstreamModel, maxTokens: undefined }
  const { path, body, headers } = adapter.own.request(original.body, target)
  if (deployment !== undefined) body['model'] = deployment
  const base = url ?? `${addressOf(candidate)}${candidate.provider.options.paths.chat ?? path}`
  using deadline = wholeDeadline(counting)
  try {
    const sent: Outgoing = {
      operation: 'chat',
      source: new TurnSource({ model, body, candidate }, 'messages'),
      url: `${base}/count_tokens`,
      body,
      ...(headers && { headers }),
      forwarded: original.headers,
    }
    return await exchange({ turn: { candidate, checked: counting }, sent, deadline }, countIn)
  } catch (thrown) {
    if (!(thrown instanceof AttemptFailed)) throw thrown
    if (thrown.error.status === 400) throw thrown.error
    // Many servers of this format do not count.
    return undefined
  }
}

function countIn(answer: unknown): number | undefined {
  const count = isObject(answer) ? answer['input_tokens'] : undefined
  return Number.isInteger(count) ? Number(count) : undefined
}
