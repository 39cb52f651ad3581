import type { CheckedRequest, Endpoint, Job, Reply, Turn } from './job'
import { remoteImagesOf, type RemoteImages } from './remote-images'
import {
  identityOf,
  jobDeadline,
  openStream,
  Relay,
  wholeDeadline,
  type Prepared,
  type StreamPlan,
  type Telling,
} from './relay'
import {
  chatStreamOf,
  hostedUsesOf,
  prepareChat,
  sendsServiceTier,
  type ChatForm,
} from './upstream-chat'
import { wholeChat } from './whole-chat'
import { roughPromptTokens, textsOf } from '../metering/estimate'
import { chatVolume } from '../metering/volume'
import type { RelayedStream } from '../providers/openai/relayed-stream'
import { outputLimitOf } from '../providers/openai/request'
import type { Allowance } from '../routing/stream-bounds'
import type { Deadline } from '../routing/deadline'
import type { Part } from '../routing/dispatch'
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
    output: outputLimitOf(body),
    texts: () => textsOf(request).texts,
    tokens: 0,
  }),
  need: (request, bytes) => ({
    promptTokens: roughPromptTokens(bytes, () => textsOf(request)),
    answers: request.n ?? 1,
  }),
  volume: (turn) => {
    const { body, checked, model } = turn
    const outputLimit = outputLimitOf(body)?.limit
    return chatVolume(body, {
      bytes: checked.bytes,
      model,
      outputLimit,
      hosted: hostedUsesOf(turn),
      sendsServiceTier: () => sendsServiceTier(turn),
    })
  },
  run: (job) =>
    job.checked.request.stream ? Promise.resolve(streamed(job)) : job.ask(new Whole(job)),
}

const plain: ChatForm<CallerChat> = {
  textField: 'messages',
  outputLimit: (turn) => chat.volume(turn).outputLimit,
}

/** A chat request as its candidates are asked. */
class Asking implements Telling {
  readonly identity: Identity
  readonly legacyFunctions: boolean
  readonly images: RemoteImages | undefined
  readonly #form: ChatForm<CallerChat>

  constructor(checked: CheckedRequest<CallerChat>, object: Identity['object']) {
    this.identity = identityOf(checked, object)
    this.legacyFunctions = usesFunctions(checked.body)
    this.images = remoteImagesOf(checked)
    this.#form = this.images ? { ...plain, media: this.images.media } : plain
  }

  prepare(turn: Turn<CallerChat>): Prepared {
    return prepareChat(turn, turn.body, this.#form)
  }
}

class Whole extends Asking implements Part<Turn<CallerChat>, Reply> {
  readonly before: Part<Turn<CallerChat>, Reply>['before']
  readonly deadline: Deadline

  constructor(job: Job<CallerChat>) {
    super(job.checked, 'chat.completion')
    this.deadline = jobDeadline(job)
    this.before = this.images && fetching(this.images, this.deadline)
  }

  attempt(turn: Turn<CallerChat>): Promise<Reply> {
    return wholeChat(turn, this.prepare(turn), this)
  }
}

const fetching =
  (images: RemoteImages, { signal }: Deadline) =>
  (turn: Turn<CallerChat>) =>
    images.fetchFor(turn, signal)

function streamed(job: Job<CallerChat>): Reply {
  const plan = new Streamed(job.checked)
  return { kind: 'stream', identity: plan.identity, opening: openStream(job, plan) }
}

class Streamed extends Asking implements StreamPlan<CallerChat> {
  readonly before: StreamPlan<CallerChat>['before']

  constructor(checked: CheckedRequest<CallerChat>) {
    super(checked, 'chat.completion.chunk')
    this.before = this.images && fetchingFirst(this.images)
  }

  allowance({ meter }: Turn<CallerChat>): Allowance | undefined {
    return meter.allowance(1)
  }

  relay(turn: Turn<CallerChat>, prepared: Prepared): RelayedStream {
    return chatStreamOf(prepared, new Relay(turn, prepared, this))
  }
}

/** A stream's own deadline begins when its provider is asked. */
const fetchingFirst = (images: RemoteImages) => async (turn: Turn<CallerChat>) => {
  using deadline = wholeDeadline(turn.checked)
  await images.fetchFor(turn, deadline.signal)
}
