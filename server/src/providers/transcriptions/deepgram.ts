import { toMs, toSeconds, type Transcribing, type TranscriptionFormat } from './format'
import { invalidAnswer } from '../upstream-error'
import { isObject, toObjects, toText, type JsonObject } from '../../wire/json-body'
import { hasTimes, toSegments, type TimedText } from '../../wire/transcript'

/** The file is the body, all else is in the query. https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded */
export const deepgram: TranscriptionFormat = {
  translates: false,
  // Key terms have a price of their own there.
  foreignFields: ['prompt', 'temperature', 'include', 'chunking_strategy', 'languages', 'keywords'],
  write: (request) => ({
    path: `/listen?${queryOf(request).toString()}`,
    content: { file: request.params.file },
  }),
  read: (answer, _request, source) => {
    const results = isObject(answer['results']) ? answer['results'] : {}
    const metadata = isObject(answer['metadata']) ? answer['metadata'] : {}
    const [channel] = toObjects(results['channels'])
    const [best] = toObjects(channel?.['alternatives'])
    if (typeof best?.['transcript'] !== 'string')
      throw invalidAnswer(source.provider, 'no transcript')
    const words = toObjects(best['words']).map((word) =>
      toTimed(word, word['punctuated_word'] ?? word['word']),
    )
    const utterances = toObjects(results['utterances']).map((one) =>
      toTimed(one, one['transcript']),
    )
    const { duration } = metadata
    const language = channel?.['detected_language']
    return {
      transcript: {
        text: best['transcript'],
        language: typeof language === 'string' ? language : undefined,
        duration: typeof duration === 'number' ? duration : undefined,
        words,
        segments: utterances.length > 0 ? utterances : toSegments(words),
      },
      usage: { tokens: undefined, audioMs: toMs(duration) },
    }
  },
}

function queryOf({ upstreamModel, params, format }: Transcribing): URLSearchParams {
  // Several languages in one file, `multi`, have a price of their own.
  const language = params.language === 'multi' ? undefined : params.language
  const query = new URLSearchParams({ model: upstreamModel, smart_format: 'true' })
  if (language) query.set('language', language)
  else query.set('detect_language', 'true')
  if (hasTimes(format)) query.set('utterances', 'true')
  if (format === 'diarized_json') query.set('diarize', 'true')
  return query
}

function toTimed(item: JsonObject, text: unknown): TimedText {
  const { speaker } = item
  return {
    text: toText(text),
    start: toSeconds(item['start']),
    end: toSeconds(item['end']),
    ...(typeof speaker === 'number' && { speaker: String(speaker) }),
  }
}
