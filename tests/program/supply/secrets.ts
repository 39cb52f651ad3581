import { isWellFormed } from '../../../server/src/auth/api-key'

/** What secrets look like by those who give them out; strict, so that examples in words are none. */
const shapes: Readonly<Record<string, RegExp>> = {
  anthropic: /\bsk-ant-[a-z]+\d\d-[\w-]{80,}/g,
  openai: /\bsk-(?:proj|svcacct|admin)-[\w-]{40,}|\bsk-\w{20}T3BlbkFJ\w{20}/g,
  google: /\bAIza[\w-]{35}\b|\bya29\.[\w-]{60,}|\bGOCSPX-[\w-]{28}/g,
  aws: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  github: /\bgh[pousr]_[A-Za-z0-9]{36}\b|\bgithub_pat_\w{60,}/g,
  stripe: /\b[sr]k_(?:live|test)_[A-Za-z0-9]{20,}|\bwhsec_[A-Za-z0-9+/]{30,}/g,
  slack: /\bxox[abeoprs]-[\w-]{20,}/g,
  providers:
    /\bgsk_\w{48,}|\bxai-\w{60,}|\bhf_[A-Za-z]{34}\b|\br8_\w{37}\b|\bpplx-\w{48}\b|\bnvapi-[\w-]{60,}/g,
  npm: /\bnpm_[A-Za-z0-9]{36}\b/g,
  'private key': /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:\\n|\s)+[A-Za-z0-9+/]{40}/g,
  'signed token': /\beyJ[\w-]{16,}\.eyJ[\w-]{16,}\.[\w-]{16,}/g,
  'operator key': /\btg-admin-[\w-]{32}\b/g,
}

const tollgateKey = /sk-tg-[0-9A-Za-z]{49}/g

/** Keys of ours in a text that may be in use: those with a right checksum. */
export const findTollgateKeys = (text: string): string[] =>
  (text.match(tollgateKey) ?? []).filter(isWellFormed)

export interface Finding {
  kind: string
  text: string
}

/** Everything in a text that looks like a secret. */
export const secretsIn = (text: string): Finding[] => [
  ...findTollgateKeys(text).map((key) => ({ kind: 'key of ours', text: key })),
  ...Object.entries(shapes).flatMap(([kind, shape]) =>
    (text.match(shape) ?? []).map((found) => ({ kind, text: found })),
  ),
]
