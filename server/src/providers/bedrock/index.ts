import { refusesSignatures, toError } from './failure'
import { createPartsReader } from './parts'
import { toConverse } from './request'
import type { Adapter } from '../adapter'
import { findImageAddresses } from '../media'

/** Amazon Bedrock, by Converse. */
export const bedrock = {
  framing: 'aws',
  format: 'converse',
  request: toConverse,
  reader: createPartsReader,
  addresses: (chat) => findImageAddresses(chat, () => false),
  toError,
  refusesSignatures,
} satisfies Adapter
