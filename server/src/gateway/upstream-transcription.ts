import type { PricedAttempt, RequestAttempt, ValidatedRequest } from './attempt'
import { checkTunnel } from './check-tunnel'
import { servesKind } from '../catalog/served-kinds'
import type { SoundVolume } from '../metering/transcription-volume'
import { selectRelayAddress } from '../providers/chat-route'
import { transcriptionFormatOf } from '../providers/transcriptions/choose-format'
import type { Transcribing, WrittenTranscription } from '../providers/transcriptions/format'
import { unsupported } from '../providers/unsupported-fields'
import type { OutgoingRequest } from '../upstream/protocol/protocol'
import { toFileContent, toFormContent, type OutgoingContent } from '../wire/outgoing-content'
import { hasTimes } from '../wire/transcript'
import { measureFields, type TranscriptionRequest } from '../wire/transcription-request'

type TranscriptionAttempt = RequestAttempt<TranscriptionRequest>

export type TranscriptionTask = Transcribing['task']

/** Throws `invalid_request` where a candidate does not take the request. */
export function checkTranscription(attempt: TranscriptionAttempt, task: TranscriptionTask): void {
  const { provider } = attempt.candidate
  if (!servesKind(provider, 'transcription')) {
    throw unsupported('model', `model: ${provider.name} does not serve transcriptions here.`)
  }
  checkTunnel(attempt)
  if (task === 'translate' && !transcriptionFormatOf(provider).translates) {
    throw unsupported('model', `model: ${provider.name} transcribes, but does not translate.`)
  }
}

/** The request as the format of its provider writes it. */
export function toTranscribing(
  { body, candidate, model, request }: TranscriptionAttempt,
  { task, streams }: Pick<Transcribing, 'task' | 'streams'>,
): Transcribing {
  const { params } = request
  const operation = task === 'translate' ? 'translations' : 'transcriptions'
  const { deployment } = selectRelayAddress(candidate, model.upstreamModel, operation)
  return {
    upstreamModel: deployment ?? model.upstreamModel,
    task,
    body,
    params,
    format: streams ? 'json' : (params.response_format ?? 'json'),
    streams,
    drop: candidate.provider.options.drop,
  }
}

export function toOutgoing(
  attempt: TranscriptionAttempt,
  transcribing: Transcribing,
): OutgoingRequest {
  const { candidate, model } = attempt
  const operation = transcribing.task === 'translate' ? 'translations' : 'transcriptions'
  const { path, content } = transcriptionFormatOf(candidate.provider).write(transcribing)
  const { url } = selectRelayAddress(candidate, model.upstreamModel, operation)
  const { file } = transcribing.params
  return {
    operation,
    path,
    url,
    // The sandbox reads this, which others get as a form.
    body: {
      ...transcribing.body,
      model: transcribing.upstreamModel,
      response_format: toSandboxFormat(transcribing),
      seconds: (file.sound?.ms ?? 0) / 1000,
    },
    content: toContent(content),
  }
}

function toContent(content: WrittenTranscription['content']): OutgoingContent {
  if ('body' in content) return content.body
  return 'file' in content ? toFileContent(content.file) : toFormContent(content.fields)
}

/** Subtitles are made of an answer with times. */
const toSandboxFormat = ({ format }: Transcribing) =>
  format === 'srt' || format === 'vtt' ? 'verbose_json' : format

/** The fields of a request that its provider does not get, though they tune the answer. */
export function omittedFromTranscription({
  body,
  candidate: { provider },
}: TranscriptionAttempt): string[] {
  const { foreignFields } = transcriptionFormatOf(provider)
  return [...foreignFields, ...provider.options.drop].filter(
    (name) => (body[name] ?? undefined) !== undefined,
  )
}

/** The facts of an attempt that its price depends on. */
export function volumeOf({
  candidate,
  body,
  request,
}: PricedAttempt<ValidatedRequest<TranscriptionRequest>>): SoundVolume {
  const { file, response_format: format } = request.params
  const { sound = { ms: 0, isMeasured: false } } = file
  const { writesTimes = false } = transcriptionFormatOf(candidate.provider)
  return {
    sound,
    hasWrittenTimes: writesTimes && hasTimes(format ?? 'json'),
    minSeconds: candidate.provider.options.minAudioSeconds,
    ...measureFields(body),
  }
}
