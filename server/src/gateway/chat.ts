import type { Endpoint, Job, Reply, Turn } from './job'
import { remoteImagesOf, type RemoteImages } from './remote-images'
import { identityOf, openStream, relayRequestOf, wholeDeadline } from './relay'
import { chatStreamOf, prepareChat } from './upstream-chat'
import { wholeChat } from './whole-chat'
import { roughPromptTokens, textsOf } from '../metering/estimate'
import { chatVolume } from '../metering/volume'
import { outputLimitOf } from '../providers/openai/request'
import { ChatRequest } from '../wire/chat-request'
import { usesFunctions } from '../wire/legacy-functions'

/** `POST /v1/chat/completions`. */
export const chat: Endpoint<typeof ChatRequest> = {
  schema: ChatRequest,
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
  volume: ({ body, bytes, model }) =>
    chatVolume(body, { bytes, model, outputLimit: outputLimitOf(body)?.limit }),
  run: (job) => (job.request.stream ? Promise.resolve(streamed(job)) : whole(job)),
}

function streamed(job: Job<ChatRequest>): Reply {
  const images = remoteImagesOf(job)
  const identity = identityOf(job, 'chat.completion.chunk')
  const legacyFunctions = usesFunctions(job.body)
  const opening = openStream(job, {
    allowance: ({ meter }) => meter.allowance(1),
    before: images && ((turn) => fetchWithin(images, turn)),
    prepare: (turn) => prepare(turn, images),
    relay: (turn, prepared) =>
      chatStreamOf(
        prepared,
        relayRequestOf(turn, { source: prepared.source, identity, legacyFunctions }),
      ),
  })
  return { kind: 'stream', identity, opening }
}

async function whole(job: Job<ChatRequest>): Promise<Reply> {
  using deadline = wholeDeadline(job)
  const identity = identityOf(job, 'chat.completion')
  const legacyFunctions = usesFunctions(job.body)
  const images = remoteImagesOf(job)
  return await job.turns.ask(
    async (turn) => {
      const prepared = prepare(turn, images)
      const relay = { source: prepared.source, identity, legacyFunctions }
      const answer = await wholeChat(turn, { ...relay, prepared, deadline })
      return { kind: 'whole', ...answer, provider: turn.candidate.provider.key }
    },
    images && ((turn) => images.fetchFor(turn, deadline.signal)),
  )
}

/** A stream's own deadline begins when its provider is asked. */
async function fetchWithin(images: RemoteImages, turn: Turn<ChatRequest>): Promise<void> {
  using deadline = wholeDeadline(turn)
  await images.fetchFor(turn, deadline.signal)
}

const prepare = (turn: Turn<ChatRequest>, images: RemoteImages | undefined) =>
  prepareChat(turn, {
    body: turn.body,
    textField: 'messages',
    outputLimit: () => chat.volume(turn).outputLimit,
    media: images?.media,
  })
