import type { ValidatedRequest, Endpoint, RunnableRequest, Reply, RequestAttempt } from './request'
import { findRemoteImages, type RemoteImages } from './remote-images'
import {
  identityOf,
  createJobDeadline,
  openStream,
  Relay,
  createAnswerDeadline,
  type Prepared,
  type StreamPlan,
  type RenderOptions,
} from './relay'
import {
  createChatStream,
  hostedUsesOf,
  prepareChat,
  isServiceTierSent,
  type ChatForm,
} from './upstream-chat'
import { completeChat } from './complete-chat'
import { estimatePromptTokens, collectPromptTexts } from '../metering/estimate'
import { boundChat } from '../metering/volume'
import type { RelayedStream } from '../providers/openai/relayed-stream'
import { readOutputLimit } from '../providers/openai/request'
import type { OutputAllowance } from '../upstream/stream-bounds'
import type { Deadline } from '../upstream/deadline'
import type { FailoverStep } from '../routing/dispatch'
import type { Identity } from '../wire/answer'
import { CallerChat } from '../wire/chat-request'
import { usesFunctions } from '../wire/legacy-functions'

/** `POST /v1/chat/completions`. */
export const chat: Endpoint<typeof CallerChat> = {
  schema: CallerChat,
  operation: 'chat',
  priced: 'chat',
  limitBytes: 32 * 1024 * 1024,
  kinds: ['chat'],
  size: (request, body) => ({
    textField: 'messages',
    output: readOutputLimit(body),
    texts: () => collectPromptTexts(request).texts,
    tokens: 0,
  }),
  need: (request, bytes) => ({
    promptTokens: estimatePromptTokens(bytes, () => collectPromptTexts(request)),
    answers: request.n ?? 1,
  }),
  volume: (turn) => {
    const { body, checked, model } = turn
    const outputLimit = readOutputLimit(body)?.limit
    return boundChat(body, {
      bytes: checked.bytes,
      model,
      outputLimit,
      hosted: hostedUsesOf(turn),
      sendsServiceTier: () => isServiceTierSent(turn),
    })
  },
  run: (job) =>
    job.checked.request.stream ? Promise.resolve(streamed(job)) : job.ask(new Whole(job)),
}

const plain: ChatForm<CallerChat> = {
  textField: 'messages',
  outputLimit: (turn) => chat.volume(turn).outputLimit,
}

/** A chat request for its candidates, with how its answer is rendered. */
class Asking implements RenderOptions {
  readonly identity: Identity
  readonly legacyFunctions: boolean
  readonly images: RemoteImages | undefined
  readonly #form: ChatForm<CallerChat>

  constructor(checked: ValidatedRequest<CallerChat>, object: Identity['object']) {
    this.identity = identityOf(checked, object)
    this.legacyFunctions = usesFunctions(checked.body)
    this.images = findRemoteImages(checked)
    this.#form = this.images ? { ...plain, media: this.images.media } : plain
  }

  prepare(turn: RequestAttempt<CallerChat>): Prepared {
    return prepareChat(turn, turn.body, this.#form)
  }
}

class Whole extends Asking implements FailoverStep<RequestAttempt<CallerChat>, Reply> {
  readonly before: FailoverStep<RequestAttempt<CallerChat>, Reply>['before']
  readonly deadline: Deadline

  constructor(job: RunnableRequest<CallerChat>) {
    super(job.checked, 'chat.completion')
    this.deadline = createJobDeadline(job)
    this.before = this.images && fetching(this.images, this.deadline)
  }

  attempt(turn: RequestAttempt<CallerChat>): Promise<Reply> {
    return completeChat(turn, this.prepare(turn), this)
  }
}

const fetching =
  (images: RemoteImages, { signal }: Deadline) =>
  (turn: RequestAttempt<CallerChat>) =>
    images.fetchFor(turn, signal)

function streamed(job: RunnableRequest<CallerChat>): Reply {
  const plan = new Streamed(job.checked)
  return { kind: 'stream', identity: plan.identity, opening: openStream(job, plan) }
}

class Streamed extends Asking implements StreamPlan<CallerChat> {
  readonly before: StreamPlan<CallerChat>['before']

  constructor(checked: ValidatedRequest<CallerChat>) {
    super(checked, 'chat.completion.chunk')
    this.before = this.images && fetchingFirst(this.images)
  }

  allowance({ meter }: RequestAttempt<CallerChat>): OutputAllowance | undefined {
    return meter.allowance(1)
  }

  relay(turn: RequestAttempt<CallerChat>, prepared: Prepared): RelayedStream {
    return createChatStream(prepared, new Relay(turn, prepared, this))
  }
}

/** Fetches images before the provider is called, where a stream's own deadline begins. */
const fetchingFirst = (images: RemoteImages) => async (turn: RequestAttempt<CallerChat>) => {
  using deadline = createAnswerDeadline(turn.checked)
  await images.fetchFor(turn, deadline.signal)
}
