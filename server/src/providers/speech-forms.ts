import { deepgramSpeech } from './deepgram/speech'
import { elevenLabsSpeech } from './elevenlabs/speech'
import { googleSpeech } from './google/speech'
import { mistralSpeech } from './mistral/speech'
import { openAiSpeech } from './openai/speech'
import type { Provider } from './provider'
import type { SpeechForm } from './speech-form'
import { vertexSpeech } from './vertex/speech'

type SpeechProvider = Pick<Provider, 'dialect' | 'options'>

const forms = {
  openai: openAiSpeech,
  deepgram: deepgramSpeech,
  elevenlabs: elevenLabsSpeech,
  mistral: mistralSpeech,
}

/** It makes tones of its own, without a codec. */
const sandboxSpeech: SpeechForm = {
  ...openAiSpeech,
  formats: ['wav', 'pcm'],
  usualFormat: 'wav',
  maxCharacters: () => 4096,
}

/** Returns the form of a provider's requests for speech. */
export function speechFormOf({ dialect, options }: SpeechProvider): SpeechForm {
  if (dialect === 'google') return googleSpeech
  if (dialect === 'vertex') return vertexSpeech
  return dialect === 'sandbox' ? sandboxSpeech : forms[options.speech.form]
}
