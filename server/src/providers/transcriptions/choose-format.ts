import { azureSpeech } from './azure-speech'
import { cloudflare } from './cloudflare'
import { deepgram } from './deepgram'
import { elevenLabs } from './elevenlabs'
import type { TranscriptionFormat } from './format'
import { mistralForm, openAiForm } from './openai-form'
import { googleTranscriptions } from '../google/transcription'
import type { Provider, RelayOptions } from '../provider'
import { vertexTranscriptions } from '../vertex/transcription'

const formats: Readonly<Record<RelayOptions['transcriptionFormat'], TranscriptionFormat>> = {
  openai: openAiForm,
  mistral: mistralForm,
  deepgram,
  elevenlabs: elevenLabs,
  cloudflare,
  azure_speech: azureSpeech,
}

/** Returns the format of a provider's transcriptions. */
export function transcriptionFormatOf({
  dialect,
  options,
}: Pick<Provider, 'dialect' | 'options'>): TranscriptionFormat {
  if (dialect === 'google') return googleTranscriptions
  return dialect === 'vertex' ? vertexTranscriptions : formats[options.transcriptionFormat]
}
