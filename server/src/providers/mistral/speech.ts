import { readEvent } from '../event'
import type { SpeechEvent, SpeechForm } from '../speech-form'
import { toCallerError } from '../upstream-error'
import { isObject } from '../../wire/json-body'
import { nameOfVoice } from '../../wire/speech-request'
import { noUsage, readUsage, type Usage } from '../../wire/usage'

/** Reads the tokens of a text and of its sound; undefined where they are not reported. */
function readSpeechUsage(block: unknown): Usage | undefined {
  const counted = isObject(block) ? readUsage(block, 'inside') : undefined
  return counted && { ...noUsage, input: counted.input, audioOutput: counted.output }
}

/**
 * Mistral's form: events with sound in base64. Its PCM has samples of 32 bits, so that callers who expect OpenAI's 16
 * get none. @see https://docs.mistral.ai/api/endpoint/audio/speech
 */
export const mistralSpeech: SpeechForm = {
  formats: ['mp3', 'opus', 'flac', 'wav'],
  usualFormat: 'mp3',
  eventsOnly: true,
  needsHeader: () => false,
  maxCharacters: ({ options }) => options.speech.maxCharacters,
  omits: ['instructions', 'speed'],
  write: (request, body, { upstreamModel, format }) => {
    const voice = nameOfVoice(request)
    const { ref_audio: sample } = body
    return {
      body: {
        model: upstreamModel,
        input: request.input,
        ...(voice !== undefined && { voice_id: voice }),
        // A voice that the caller has recorded.
        ...(typeof sample === 'string' && { ref_audio: sample }),
        response_format: format,
        stream: true,
      },
    }
  },
  read: (data, source): SpeechEvent => {
    const { type, audio_data: audio, usage } = readEvent(data, source)
    if (type === 'speech.audio.done') return { usage: readSpeechUsage(usage), isLast: true }
    if (typeof audio !== 'string') return {}
    const sound = Buffer.from(audio, 'base64').toString('latin1')
    // Without a type it is a whole answer.
    return { sound, ...(type === undefined && { isLast: true }) }
  },
  toError: toCallerError,
}
