import { findImageAddresses } from '../media'
import { isGoogleUrl } from './content'
import { isSignatureRejection, toGoogleError } from './failure'
import { createPartsReader } from './parts'
import { toGenerateContent, type GeminiHome } from './request'
import type { Adapter } from '../adapter'

/** The Gemini models in one of their homes. */
export const gemini = (home: GeminiHome): Adapter => ({
  framing: 'sse',
  request: (chat, target) => toGenerateContent(chat, target, home),
  reader: createPartsReader,
  // It has to begin with a letter.
  toolNames: /^[a-zA-Z_][\w.-]{0,63}$/,
  addresses: (chat) => findImageAddresses(chat, isGoogleUrl),
  toError: toGoogleError,
  refusesSignatures: isSignatureRejection,
})

/** The Gemini API, base URL `https://generativelanguage.googleapis.com/v1beta`. */
export const google = gemini({ path: '/models', callIds: true, safetySettings: [] })
