import { toMs, toSeconds, type Transcribing, type TranscriptionFormat } from './format'
import { rejectSpeakers } from './reject-speakers'
import { invalidAnswer } from '../upstream-error'
import { toObjects, toText, type JsonObject } from '../../wire/json-body'
import type { TimedText } from '../../wire/transcript'

/** The version whose definition has `enhancedMode`. */
const path = '/speechtotext/transcriptions:transcribe?api-version=2025-10-15'

/**
 * Azure's LLM Speech: a form with the file and a definition in JSON.
 * @see https://learn.microsoft.com/en-us/azure/ai-services/speech-service/llm-speech
 */
export const azureSpeech: TranscriptionFormat = {
  translates: true,
  foreignFields: [
    'language',
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
    const definition = JSON.stringify({ enhancedMode: toMode(request) })
    const fields = [
      ['definition', definition],
      ['audio', request.params.file],
    ] as const
    return { path, content: { fields } }
  },
  read: (answer, _request, source) => {
    const { combinedPhrases, durationMilliseconds: ms } = answer
    if (!Array.isArray(combinedPhrases)) throw invalidAnswer(source.provider, 'no transcript')
    const phrases = toObjects(answer['phrases'])
    const duration = typeof ms === 'number' ? ms / 1000 : undefined
    const locale = phrases[0]?.['locale']
    return {
      transcript: {
        text: toObjects(combinedPhrases)
          .map(({ text }) => toText(text))
          .join('\n'),
        language: typeof locale === 'string' ? locale : undefined,
        duration,
        words: phrases.flatMap(({ words }) => toObjects(words).map(toTimed)),
        segments: phrases.map(toTimed),
      },
      usage: { tokens: undefined, audioMs: toMs(duration) },
    }
  },
}

/** The service has a model of its own, and others by their names. */
const toMode = ({ task, upstreamModel, params: { prompt } }: Transcribing): JsonObject => ({
  enabled: true,
  ...(upstreamModel.startsWith('mai-') && { model: upstreamModel }),
  task,
  ...(task === 'translate' && { targetLanguage: 'en' }),
  ...(prompt && { prompt: [prompt] }),
})

const secondsOf = (ms: unknown) => toSeconds(typeof ms === 'number' ? ms / 1000 : undefined)

function toTimed({ text, offsetMilliseconds, durationMilliseconds }: JsonObject): TimedText {
  const start = secondsOf(offsetMilliseconds)
  return { text: toText(text), start, end: start + secondsOf(durationMilliseconds) }
}
