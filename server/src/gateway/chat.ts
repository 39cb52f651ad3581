import { AnswerFacts, identityOf, type RenderOptions } from './answer-facts'
import type { RequestAttempt, ValidatedRequest } from './attempt'
import { chooseProtocol, hostedUsesOf, isServiceTierSent, type ChatForm } from './choose-protocol'
import { completeChat } from './complete-chat'
import type { Endpoint, EndpointRun } from './endpoint'
import type { FailoverStep } from './failover'
import { openStream, type StreamPlan } from './open-stream'
import { findRemoteImages, type RemoteImages } from './remote-images'
import type { Reply } from './request'
import { createAnswerDeadline, createFailoverDeadline } from './request-deadline'
import { chatKinds } from '../catalog/chat-kinds'
import { collectPromptTexts, estimatePromptTokens } from '../metering/estimate'
import { findLongTexts } from '../metering/long-texts'
import { boundChat } from '../metering/volume'
import type { RelayedStream } from '../providers/openai/relayed-stream'
import { readOutputLimit } from '../providers/openai/request'
import type { Deadline } from '../upstream/deadline'
import type { ChatProtocol } from '../upstream/protocol/protocol'
import type { OutputAllowance } from '../upstream/stream-bounds'
import type { Identity } from '../wire/answer'
import { CallerChat } from '../wire/chat-request'
import { usesFunctions } from '../wire/legacy-functions'
import { withThoughtFields } from '../wire/thinking-parts'

/** `POST /v1/chat/completions`. */
export const chat: Endpoint<typeof CallerChat> = {
  schema: CallerChat,
  normalize: withThoughtFields,
  operation: 'chat',
  priceKind: 'chat',
  maxBytes: 32 * 1024 * 1024,
  kinds: chatKinds,
  size: (params, body) => ({
    textField: 'messages',
    output: readOutputLimit(body),
    texts: () => collectPromptTexts(params).texts,
    tokens: 0,
  }),
  need: (params, bytes) => ({
    promptTokens: estimatePromptTokens(bytes, () => collectPromptTexts(params)),
    answers: params.n ?? 1,
  }),
  volume: (attempt) => {
    const { body, request, model } = attempt
    return boundChat(body, {
      bytes: request.bytes,
      model,
      outputLimit: readOutputLimit(body)?.limit,
      hostedUses: hostedUsesOf(attempt),
      sendsServiceTier: () => isServiceTierSent(attempt),
    })
  },
  texts: ({ body }) => findLongTexts(body),
  run: (failover) =>
    failover.request.params.stream
      ? Promise.resolve(streamChat(failover))
      : failover.run(new CompleteChat(failover)),
}

const chatForm: ChatForm<CallerChat> = {
  textField: 'messages',
  outputLimit: (attempt) => chat.volume(attempt).outputLimit,
}

type ChatRequest = ValidatedRequest<CallerChat>

/** A chat request for its candidates, with how its answer is rendered. */
class RenderedChat implements RenderOptions {
  readonly identity: Identity
  readonly legacyFunctions: boolean
  readonly images: RemoteImages | undefined
  readonly #form: ChatForm<CallerChat>

  constructor(request: ChatRequest, object: Identity['object']) {
    this.identity = identityOf(request, object)
    this.legacyFunctions = usesFunctions(request.body)
    this.images = findRemoteImages(request)
    this.#form = this.images ? { ...chatForm, media: this.images.media } : chatForm
  }

  protocol(attempt: RequestAttempt<CallerChat>): ChatProtocol {
    return chooseProtocol(attempt, attempt.body, this.#form)
  }
}

class CompleteChat extends RenderedChat implements FailoverStep<ChatRequest, Reply> {
  readonly before: FailoverStep<ChatRequest, Reply>['before']
  readonly deadline: Deadline

  constructor(failover: EndpointRun<CallerChat>) {
    super(failover.request, 'chat.completion')
    this.deadline = createFailoverDeadline(failover)
    this.before = this.images && fetchWithin(this.images, this.deadline)
  }

  attempt(attempt: RequestAttempt<CallerChat>): Promise<Reply> {
    return completeChat(attempt, this.protocol(attempt), this)
  }
}

const fetchWithin =
  (images: RemoteImages, { signal }: Deadline) =>
  (attempt: RequestAttempt<CallerChat>) =>
    images.fetchFor(attempt, signal)

function streamChat(failover: EndpointRun<CallerChat>): Reply {
  const plan = new StreamedChat(failover.request)
  return { kind: 'stream', identity: plan.identity, opening: openStream(failover, plan) }
}

class StreamedChat extends RenderedChat implements StreamPlan<CallerChat> {
  readonly before: StreamPlan<CallerChat>['before']

  constructor(request: ChatRequest) {
    super(request, 'chat.completion.chunk')
    this.before = this.images && fetchFirst(this.images)
  }

  allowance({ meter }: RequestAttempt<CallerChat>): OutputAllowance | undefined {
    return meter.allowance(1)
  }

  relay(attempt: RequestAttempt<CallerChat>, protocol: ChatProtocol): RelayedStream {
    return protocol.stream(new AnswerFacts(attempt, protocol, this))
  }
}

/** Fetches images before the provider is called, where a stream's own deadline begins. */
const fetchFirst = (images: RemoteImages) => async (attempt: RequestAttempt<CallerChat>) => {
  using deadline = createAnswerDeadline(attempt.request)
  await images.fetchFor(attempt, deadline.signal)
}
