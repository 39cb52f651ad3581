import { toMs, toSeconds, type Transcribing, type TranscriptionFormat } from './format'
import { rejectSpeakers } from './reject-speakers'
import { invalidAnswer } from '../upstream-error'
import { isObject, toObjects, toText, type JsonObject } from '../../wire/json-body'
import { toJsonWithFile } from '../../wire/outgoing-content'
import type { TimedText } from '../../wire/transcript'

/**
 * Whisper of Workers AI: the file as base64 in JSON, behind `/accounts/<account>/ai`.
 * @see https://developers.cloudflare.com/workers-ai/models/whisper-large-v3-turbo/
 */
export const cloudflare: TranscriptionFormat = {
  translates: true,
  foreignFields: [
    'temperature',
    'include',
    'chunking_strategy',
    'languages',
    'keywords',
    'known_speaker_names',
    'known_speaker_references',
  ],
  write: (request) => {
    rejectSpeakers(request)
    const { upstreamModel, params } = request
    const path = upstreamModel.split('/').map(toSegment).join('/')
    const body = (data: string) => ({ audio: data, ...fieldsOf(request) })
    return { path: `/run/${path}`, content: { body: toJsonWithFile(body, params.file) } }
  },
  read: (answer, _request, source) => {
    const { result } = answer
    if (!isObject(result) || typeof result['text'] !== 'string')
      throw invalidAnswer(source.provider, 'no transcript')
    const info = isObject(result['transcription_info']) ? result['transcription_info'] : {}
    const { language, duration } = info
    const segments = toObjects(result['segments'])
    return {
      transcript: {
        text: result['text'].trim(),
        language: typeof language === 'string' ? language : undefined,
        duration: typeof duration === 'number' ? duration : undefined,
        words: segments.flatMap(({ words }) =>
          toObjects(words).map((word) => toTimed(word, word['word'])),
        ),
        segments: segments.map((segment) => toTimed(segment, segment['text'])),
      },
      usage: { tokens: undefined, audioMs: toMs(duration) },
    }
  },
}

/** The names of its models begin with `@cf/`. */
const toSegment = (name: string) => encodeURIComponent(name).replace(/^%40/, '@')

const fieldsOf = ({ task, params: { language, prompt } }: Transcribing): JsonObject => ({
  task,
  ...(language && { language }),
  ...(prompt && { initial_prompt: prompt }),
})

const toTimed = (item: JsonObject, text: unknown): TimedText => ({
  text: toText(text).trim(),
  start: toSeconds(item['start']),
  end: toSeconds(item['end']),
})
