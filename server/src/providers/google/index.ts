import { imageAddresses } from '../media'
import { isGooglesOwn } from './content'
import { refusesSignatures, toGoogleError } from './failure'
import { partsReader } from './parts'
import { toGenerateContent, type Home } from './request'
import type { Adapter } from '../adapter'

/** The Gemini models in one of their homes. */
export const gemini = (home: Home): Adapter => ({
  framing: 'sse',
  request: (chat, target) => toGenerateContent(chat, target, home),
  reader: partsReader,
  // It has to begin with a letter.
  toolNames: /^[a-zA-Z_][\w.-]{0,63}$/,
  addresses: (chat) => imageAddresses(chat, isGooglesOwn),
  failure: toGoogleError,
  refusesSignatures,
})

/** The Gemini API, base URL `https://generativelanguage.googleapis.com/v1beta`. */
export const google = gemini({ path: '/models', callIds: true, safetySettings: [] })
