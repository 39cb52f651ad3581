import { soundOnly, voiceRequired, wrongVoice, type SpeechForm } from '../speech-form'
import { speechFormats, usualSampleRate, type SpeechFormat } from '../../wire/speech-format'
import { nameOfVoice } from '../../wire/speech-request'

/** https://developers.deepgram.com/docs/tts-media-output-settings */
const encodings: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'encoding=mp3',
  opus: 'encoding=opus&container=ogg',
  aac: 'encoding=aac',
  flac: 'encoding=flac',
  wav: `encoding=linear16&container=wav&sample_rate=${usualSampleRate}`,
  pcm: `encoding=linear16&container=none&sample_rate=${usualSampleRate}`,
}

/** A name that has its voice and language, such as `aura-2-thalia-en`. */
const withVoice = /^aura(?:-\d+)?-[a-z]+-[a-z]{2}$/
/** A voice, with or without its language: no other generation of voices, which has another price. */
const voiceName = /^[a-z]+(?:-[a-z]{2})?$/

/** Joins a model and a voice of it: `aura-2` and `thalia` are `aura-2-thalia-en`. Throws `invalid_request`. */
function toVoiceModel(model: string, voice: string | undefined): string {
  if (withVoice.test(model)) return model
  if (voice === undefined) throw voiceRequired()
  const name = voice.startsWith(`${model}-`) ? voice.slice(model.length + 1) : voice
  if (!voiceName.test(name)) throw wrongVoice(`voice: no voice of ${model}, such as "thalia".`)
  return name.includes('-') ? `${model}-${name}` : `${model}-${name}-en`
}

/** Deepgram's form. @see https://developers.deepgram.com/reference/text-to-speech/speak-request */
export const deepgramSpeech: SpeechForm = {
  ...soundOnly,
  formats: speechFormats,
  usualFormat: 'mp3',
  needsHeader: () => false,
  maxCharacters: () => 2000,
  omits: ['instructions', 'speed'],
  write: (request, _body, { upstreamModel, format }) => {
    const model = encodeURIComponent(toVoiceModel(upstreamModel, nameOfVoice(request)))
    return { path: `/speak?model=${model}&${encodings[format]}`, body: { text: request.input } }
  },
}
