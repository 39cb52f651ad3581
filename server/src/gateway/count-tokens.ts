import { chat } from './chat'
import { AttemptSource } from './answer-facts'
import { takeOwnFields } from './own-fields'
import type { GatewayPorts } from './ports'
import type { InboundRequest } from './request'
import { createAnswerDeadline } from './request-deadline'
import { resolveModel } from './resolve'
import { receivesUrls } from './url-receivers'
import { permitEndpoint, type Principal } from '../auth/principal'
import { textChatKinds } from '../catalog/chat-kinds'
import type { Dialect, Translation } from '../protocols/dialect'
import { estimateAround, estimatePrompt, collectPromptTexts } from '../metering/estimate'
import { selectChatRoute } from '../providers/chat-route'
import { addressOf } from '../providers/provider-route'
import { AttemptFailed } from '../upstream/attempt-failed'
import type { Candidate } from '../routing/candidate'
import { isSharedCredential } from '../shared-credentials/credential'
import { toSharedOriginal } from '../shared-credentials/original'
import { rejectRemoteUrls } from '../shared-credentials/remote-urls'
import { exchange } from '../upstream/exchange'
import { RelayProtocol } from '../upstream/protocol/relay'
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
  const principal = await ports.authenticator.authenticate(call, 'write')
  permitEndpoint(principal, chat.operation)
  call.owner = principal.accountId
  ports.loopShares.touch(principal.accountId)
  rejectForwardingLoop(call.hops)
  const admission = await ports.limits.admit(principal)
  call.reportQuota(admission.quota)
  try {
    const requestBody = await call.readBody(chat.maxBytes, principal.accountId)
    const { body } = takeOwnFields(requestBody, true, principal)?.readBody ?? requestBody
    const translation = dialect.read(body)
    const request = check(TranslatedChat, translation.chat)
    const demands = {
      get needs() {
        return findRequestNeeds(translation.chat)
      },
      misfit: async () => undefined,
      promptTokens: () => estimatePrompt(translation.chat),
    }
    const query = { name: request.model, kinds: textChatKinds, demands, bareNames: true }
    const { candidates } = await resolveModel(query, principal, ports)
    const [candidate] = candidates
    const counting = { call, ports, principal, translation }
    const count = candidate && (await countByProvider(candidate, counting))
    return count ?? (await estimate(request, translation, ports))
  } finally {
    admission.release()
  }
}

async function estimate(request: CallerChat, { chat: body }: Translation, ports: GatewayPorts) {
  const prompt = collectPromptTexts(request)
  const countedTokens = await ports.counter.count(prompt.texts, { deadlineMs: countingMs })
  return countedTokens === undefined ? estimatePrompt(body) : countedTokens + estimateAround(prompt)
}

/** A count has no place for the names of fields that were left out. */
const ignore = () => undefined

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
async function countByProvider(
  candidate: Candidate,
  counting: Counting,
): Promise<number | undefined> {
  const { translation } = counting
  const { model } = candidate
  const { original } = translation
  const native =
    original?.format === 'messages' ? { format: original.format, keepsId: false } : undefined
  const { upstreamModel } = model
  const route = selectChatRoute(candidate, upstreamModel, { chat: translation.chat, native })
  if (!original || route.protocol !== 'passthrough') return undefined
  const target = { upstreamModel, maxTokens: undefined }
  const { reasoning } = model.capabilities
  const isShared = isSharedCredential(candidate)
  if (isShared && !receivesUrls(candidate)) rejectRemoteUrls(original.body)
  const allowedOriginal = isShared
    ? toSharedOriginal(original, { credential: candidate, reasoning, omit: ignore })
    : original
  const { path, body, headers } = route.passthrough.request(allowedOriginal.body, target)
  if (route.deployment !== undefined) body['model'] = route.deployment
  // What is counted belongs to no end user.
  if (isShared) delete body['metadata']
  const chatPath = candidate.provider.options.paths.chat ?? path
  const base = route.url ?? `${addressOf(candidate)}${chatPath}`
  using deadline = createAnswerDeadline(counting)
  try {
    const protocol = new RelayProtocol({
      request: {
        operation: 'chat',
        url: `${base}/count_tokens`,
        body,
        headers,
        forwarded: allowedOriginal.headers,
      },
      source: new AttemptSource({ model, body, candidate }, 'messages'),
    })
    return await exchange({ candidate, request: counting, protocol, deadline }, { read: readCount })
  } catch (thrown) {
    if (!(thrown instanceof AttemptFailed)) throw thrown
    if (thrown.error.status === 400) throw thrown.error
    // Many servers of this format do not count.
    return undefined
  }
}

function readCount(answer: unknown): number | undefined {
  const count = isObject(answer) ? answer['input_tokens'] : undefined
  return Number.isInteger(count) ? Number(count) : undefined
}
