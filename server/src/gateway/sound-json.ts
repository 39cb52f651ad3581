import type { JsonForm } from './endpoint'
import { unavailable } from '../errors'
import { readSoundJson } from '../wire/transcription-json'

/** A transcription in JSON, which is the same request as a form: its sound goes to disk too. */
export const soundJson: JsonForm = {
  maxBytes: 32 * 1024 * 1024,
  async toForm(body, call) {
    const { fields, sound } = readSoundJson(body)
    if (!call.storeFile) throw unavailable()
    return { ...fields, file: await call.storeFile(sound, sound.decode()) }
  },
}
