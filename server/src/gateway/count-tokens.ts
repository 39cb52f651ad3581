import { chat } from './chat'
import type { InboundRequest, GatewayPorts } from './request'
import { TurnSource, createAnswerDeadline } from './relay'
import { resolveModel } from './resolution'
import type { Principal } from '../auth/principal'
import type { Dialect, Translation } from '../protocols/dialect'
import { estimateAround, estimatePrompt, collectPromptTexts } from '../metering/estimate'
import { selectChatRoute } from '../providers/chat-route'
import { addressOf } from '../providers/provider-route'
import { AttemptFailed, type OutgoingRequest } from '../upstream/attempt'
import type { Candidate } from '../routing/candidate'
import { exchange } from '../upstream/exchange'
import { findRequestNeeds } from '../routing/needs'
import { TranslatedChat, type CallerChat } from '../wire/chat-request'
import { rejectForwardingLoop } from '../wire/forwarding-loop'
import { check, isObject } from '../wire/json-body'

/** Longer than where tokens are only a check: here the count is the whole result. */
const countingMs = 5000

/**
 * Counts the tokens of a prompt: by the provider where it speaks the caller's format, else estimated from its texts.
 * Free, but counts against its caller's limits like any other request. Rejects as the first stages of `gateway.ts`
 * do.
 */
export async function countTokens(
  dialect: Dialect,
  call: InboundRequest,
  ports: GatewayPorts,
): Promise<number> {
  const principal = await ports.door.enter(call, 'write')
  call.owner = principal.accountId
  ports.budget.touch(principal.accountId)
  rejectForwardingLoop(call.hops)
  const admission = await ports.limits.admit(principal)
  call.tell(admission.quota)
  try {
    const { body } = await call.readBody(chat.limitBytes, principal.accountId)
    const translation = dialect.read(body)
    const request = check(TranslatedChat, translation.chat)
    const demands = () => ({
      needs: findRequestNeeds(translation.chat),
      misfit: async () => undefined,
      promptTokens: () => estimatePrompt(translation.chat),
    })
    const asked = { name: request.model, kinds: chat.kinds, demands }
    const { candidates } = await resolveModel(asked, principal, ports)
    const [candidate] = candidates
    const told = candidate && (await toldBy(candidate, { call, ports, principal, translation }))
    return told ?? (await estimated(request, translation, ports))
  } finally {
    admission.release()
  }
}

async function estimated(request: CallerChat, { chat: body }: Translation, ports: GatewayPorts) {
  const asked = collectPromptTexts(request)
  const counted = await ports.counter.count(asked.texts, { deadlineMs: countingMs })
  return counted === undefined ? estimatePrompt(body) : counted + estimateAround(asked)
}

interface Counting {
  call: InboundRequest
  ports: GatewayPorts
  principal: Principal
  translation: Translation
}

/**
 * The count of a provider that speaks the caller's format; undefined where it does not, or does not count. Rejects
 * with the provider's reason where it rejects the request.
 */
async function toldBy(candidate: Candidate, counting: Counting): Promise<number | undefined> {
  const { translation } = counting
  const { model } = candidate
  const { original } = translation
  const { adapter, url, deployment } = selectChatRoute(
    candidate,
    model.upstreamModel,
    translation.chat,
  )
  if (!original || adapter?.own?.format !== original.format) return undefined
  const target = { upstreamModel: model.upstreamModel, maxTokens: undefined }
  const { path, body, headers } = adapter.own.request(original.body, target)
  if (deployment !== undefined) body['model'] = deployment
  const base = url ?? `${addressOf(candidate)}${candidate.provider.options.paths.chat ?? path}`
  using deadline = createAnswerDeadline(counting)
  try {
    const sent: OutgoingRequest = {
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
