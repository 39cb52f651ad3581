import { toMs, toSeconds, type Transcribing, type TranscriptionFormat } from './format'
import { invalidAnswer } from '../upstream-error'
import { toObjects, toText } from '../../wire/json-body'
import type { OutgoingField } from '../../wire/outgoing-content'
import { toSegments, type TimedText } from '../../wire/transcript'

/** https://elevenlabs.io/docs/api-reference/speech-to-text/convert */
export const elevenLabs: TranscriptionFormat = {
  translates: false,
  // Key terms have a price of their own there.
  foreignFields: ['prompt', 'include', 'chunking_strategy', 'languages', 'keywords'],
  write: (request) => ({ path: '/speech-to-text', content: { fields: fieldsOf(request) } }),
  read: (answer, _request, source) => {
    const { text, language_code: language, audio_duration_secs: duration } = answer
    if (typeof text !== 'string') throw invalidAnswer(source.provider, 'no transcript')
    const words = toObjects(answer['words'])
      .filter(({ type }) => type === undefined || type === 'word')
      .map((word): TimedText => {
        const { speaker_id: speaker } = word
        return {
          text: toText(word['text']),
          start: toSeconds(word['start']),
          end: toSeconds(word['end']),
          ...(typeof speaker === 'string' && { speaker }),
        }
      })
    return {
      transcript: {
        text,
        language: typeof language === 'string' ? language : undefined,
        duration: typeof duration === 'number' ? duration : words.at(-1)?.end,
        words,
        segments: toSegments(words),
      },
      usage: { tokens: undefined, audioMs: toMs(duration) },
    }
  },
}

function fieldsOf({ upstreamModel, params, format }: Transcribing): OutgoingField[] {
  const { language, temperature, file } = params
  return [
    ['model_id', upstreamModel],
    // Laughter and applause are no words.
    ['tag_audio_events', 'false'],
    ...(language ? [['language_code', language] as const] : []),
    ...(typeof temperature === 'number' ? [['temperature', String(temperature)] as const] : []),
    ...(format === 'diarized_json' ? [['diarize', 'true'] as const] : []),
    ['file', file],
  ]
}
