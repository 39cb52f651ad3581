import { refusesSignatures, toError } from './failure'
import { partsReader } from './parts'
import { toConverse } from './request'
import type { Adapter } from '../adapter'
import { imageAddresses } from '../media'

/** Amazon Bedrock, by Converse. */
export const bedrock = {
  framing: 'aws',
  request: toConverse,
  reader: partsReader,
  addresses: (chat) => imageAddresses(chat, () => false),
  failure: toError,
  refusesSignatures,
} satisfies Adapter
