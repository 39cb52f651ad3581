import { sendRequest, type Answer, type Json } from './http'
import type { Customer, Rig } from './server'
import { wav } from '../../server/testing/sound-files'

/** Requests of all media, to models with a price in their own unit. */
export interface MediaRequests {
  /** 0.04 USD an image. */
  draw: (customer: Customer, count: number) => Promise<Answer>
  /** 0.36 USD an hour of sound. */
  transcribe: (customer: Customer, seconds: number) => Promise<Answer>
  /** 15 USD for a million characters. */
  speak: (customer: Customer, input: string, fields?: Json) => Promise<Answer>
}

const category = (name: string, pricing: Json) => ({
  category: name,
  max_output_tokens: null,
  pricing: { input: 0, output: 0, ...pricing },
})

export const mediaRequests = (rig: Rig): MediaRequests => ({
  draw: async ({ key }, count) => {
    const model = await rig.model('draw-address', category('image', { made_image: 0.04 }))
    const body = { model, prompt: 'A house', n: count }
    return sendRequest(rig.gateway, { path: '/v1/images/generations', key, body })
  },
  transcribe: async ({ key }, seconds) => {
    const model = await rig.model('hear-uncounted', category('transcription', { audio_hour: 0.36 }))
    const file = new File([wav(seconds)], 'talk.wav', { type: 'audio/wav' })
    return sendRequest(rig.gateway, {
      path: '/v1/audio/transcriptions',
      key,
      form: { file, model },
    })
  },
  speak: async ({ key }, input, fields = {}) => {
    const speech = category('speech', { input_characters: 15 })
    const model = await rig.model('by-character', { ...speech, upstream_model: 'ok' })
    const body = { model, input, voice: 'alloy', ...fields }
    return sendRequest(rig.gateway, { path: '/v1/audio/speech', key, body })
  },
})
