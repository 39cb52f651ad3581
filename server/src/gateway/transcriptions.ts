import { AttemptSource, identityOf } from './answer-facts'
import type { PricedAttempt, RequestAttempt, ValidatedRequest } from './attempt'
import type { Endpoint, EndpointRun } from './endpoint'
import { reportOmissions } from './omissions'
import { openStream, type StreamPlan } from './open-stream'
import type { Reply } from './request'
import { createFailoverDeadline } from './request-deadline'
import { soundJson } from './sound-json'
import { renderTranscription, toUsageBlock } from './transcription-answer'
import {
  checkTranscription,
  omittedFromTranscription,
  toOutgoing,
  toTranscribing,
  volumeOf,
  type TranscriptionTask,
} from './upstream-transcription'
import { translateWhole } from './whole-exchange'
import { toSoundNeed } from '../limits/media-need'
import { measureSound } from '../metering/sound-length'
import {
  audioMsOf,
  boundTranscription,
  estimateTranscription,
} from '../metering/transcription-volume'
import { transcriptionFormatOf } from '../providers/transcriptions/choose-format'
import type { Transcribing, TranscriptionUsage } from '../providers/transcriptions/format'
import { toTranscriptEvents, TranscriptStream } from '../providers/transcriptions/transcript-stream'
import { invalidAnswer, toCallerError } from '../providers/upstream-error'
import type { Deadline } from '../upstream/deadline'
import type { StreamProtocol } from '../upstream/protocol/protocol'
import { isObject, type JsonObject } from '../wire/json-body'
import { readTranscriptionForm, TranscriptionRequest } from '../wire/transcription-request'
import { TranscriptWriter } from '../wire/transcript-writer'
import { noUsage, type Usage } from '../wire/usage'

type TranscriptionAttempt = RequestAttempt<TranscriptionRequest>

/** Deepgram and ElevenLabs take gigabytes, OpenAI 25 MB; what a provider does not take, it rejects. */
const form = { files: { file: 1 }, maxFileBytes: 512 << 20 }

const toEndpoint = (
  operation: 'transcriptions' | 'translations',
  task: TranscriptionTask,
): Endpoint<typeof TranscriptionRequest> => ({
  schema: TranscriptionRequest,
  normalize: readTranscriptionForm,
  operation,
  priceKind: 'transcription',
  maxBytes: form.maxFileBytes,
  form,
  // OpenRouter's clients send JSON, and translations are none of its.
  ...(task === 'transcribe' && { jsonToForm: soundJson }),
  kinds: ['transcription'],
  prepare: async ({ file }) => {
    file.sound = await measureSound(file)
  },
  // The limit of a model is that of its sound, and enforced by its provider.
  size: () => ({ textField: 'prompt', output: undefined, texts: () => [], tokens: 0 }),
  need: ({ file }) => ({ promptTokens: Math.ceil((file.sound?.ms ?? 0) / 100), answers: 0 }),
  volume: (attempt: PricedAttempt<ValidatedRequest<TranscriptionRequest>>) =>
    boundTranscription(volumeOf(attempt)),
  texts: () => [],
  mediaNeed: ({ params }) => toSoundNeed(params.file.sound?.ms ?? 0),
  run: (failover) =>
    failover.request.params.stream && task === 'transcribe'
      ? Promise.resolve(streamTranscript(failover))
      : transcribe(failover, task),
})

/** `POST /v1/audio/transcriptions`. */
export const transcriptions = toEndpoint('transcriptions', 'transcribe')
/** `POST /v1/audio/translations`. */
export const translations = toEndpoint('translations', 'translate')

async function transcribe(
  failover: EndpointRun<TranscriptionRequest>,
  task: TranscriptionTask,
): Promise<Reply> {
  const deadline = createFailoverDeadline(failover)
  return await failover.run({
    deadline,
    before: async (attempt) => checkTranscription(attempt, task),
    attempt: async (attempt) => {
      const transcribing = toTranscribing(attempt, { task, streams: false })
      const answer = await exchange(attempt, transcribing, deadline)
      const usage = usageOf(attempt, answer.usage, answer.transcript.text)
      return {
        kind: 'full',
        ...renderTranscription(answer, transcribing, usage),
        usage,
        provider: attempt.candidate.provider.key,
        omittedFields: reportOmissions(attempt, omittedFromTranscription(attempt)),
      }
    },
  })
}

function exchange(attempt: TranscriptionAttempt, transcribing: Transcribing, deadline: Deadline) {
  const source = new AttemptSource(attempt, 'file')
  const format = transcriptionFormatOf(attempt.candidate.provider)
  const whole = {
    request: toOutgoing(attempt, transcribing),
    source,
    deadline,
    estimate: () => usageOf(attempt, undefined, ''),
    read: (answer: unknown) => {
      if (!isObject(answer)) throw invalidAnswer(source.provider, 'no transcript')
      return format.read(answer, transcribing, source)
    },
  }
  return translateWhole(attempt, whole, { toError: format.toError ?? toCallerError })
}

/** The provider's counts; the measured time, and an estimate of tokens, in place of those that the price charges. */
function usageOf(
  attempt: TranscriptionAttempt,
  counts: TranscriptionUsage | undefined,
  text: string,
): Usage {
  const volume = volumeOf(attempt)
  const { pricing } = attempt.model
  const audioMs = audioMsOf(volume, counts?.audioMs)
  const isPaidByToken =
    pricing !== null && pricing.input + pricing.output + (pricing.audioInput ?? 0n) > 0n
  if (isPaidByToken && !counts?.tokens) {
    return { ...estimateTranscription(volume, text), audioMs, estimated: true }
  }
  const estimated = pricing?.audioHour !== undefined && counts?.audioMs === undefined
  return { ...(counts?.tokens ?? noUsage), audioMs, estimated }
}

function streamTranscript(failover: EndpointRun<TranscriptionRequest>): Reply {
  return {
    kind: 'stream',
    // Only frames of other formats have it.
    identity: identityOf(failover.request, 'chat.completion.chunk'),
    writer: new TranscriptWriter(),
    opening: openStream(failover, streamPlan),
  }
}

/** A stream of any provider: of those that answer whole, one of two events. */
const streamPlan: StreamPlan<TranscriptionRequest, StreamProtocol> = {
  protocol(attempt) {
    const transcribing = toTranscribing(attempt, { task: 'transcribe', streams: true })
    const source = new AttemptSource(attempt, 'file')
    const format = transcriptionFormatOf(attempt.candidate.provider)
    return {
      request: toOutgoing(attempt, transcribing),
      source,
      framing: 'sse',
      isEncoded: true,
      omitted: reportOmissions(attempt, omittedFromTranscription(attempt)),
      toError: (refusal) => (format.toError ?? toCallerError)(refusal, source),
      toEvents(answer: JsonObject) {
        const { transcript, usage } = format.read(answer, transcribing, source)
        const block = answer['usage'] ?? toUsageBlock(usageOf(attempt, usage, transcript.text))
        return toTranscriptEvents(transcript.text, block)
      },
      replaceRefused: () => false,
    }
  },
  relay: (attempt, { source }) =>
    new TranscriptStream({
      source,
      usage: (counts, text) => usageOf(attempt, counts, text),
    }),
  allowance: () => undefined,
  lostUsage: (attempt) => usageOf(attempt, undefined, ''),
  before: async (attempt) => checkTranscription(attempt, 'transcribe'),
}
