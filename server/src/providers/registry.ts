import { hosts } from './hosts'
import { makers } from './makers'
import type { Provider } from './provider'
import { oldCap, plainEmbeddings, defineProvider } from './define-provider'

/**
 * The variable with the address of tokens for service accounts of a cloud, in place of the one in their
 * file.
 */
export const tokenUrlVariable = 'VERTEX_TOKEN_URL'

/** Custom providers, local servers and the sandbox. */
const others: readonly Provider[] = [
  defineProvider(['custom', 'Custom provider'], null, {
    keyVariables: [],
    embeddings: 'yes',
    // Its capabilities are unknown, so requests avoid features that an older server might refuse.
    options: { extraContent: true, developerRole: false, embeddings: plainEmbeddings },
  }),
  defineProvider(['local', 'Local server'], null, {
    keyless: true,
    // Each server found on loopback has a key of its own, or none: see upstream/http/local-servers.ts.
    keyVariables: [],
    embeddings: 'yes',
    abort: 'free',
    options: {
      rename: oldCap,
      developerRole: false,
      legacyCompletions: true,
      embeddings: plainEmbeddings,
    },
  }),
  defineProvider(['sandbox', 'Sandbox'], null, {
    dialect: 'sandbox',
    keyless: true,
    keyVariables: [],
    embeddings: 'yes',
    abort: 'free',
    options: { legacyCompletions: true },
  }),
]

/**
 * All built-in providers, and the quirks of each. Addresses and quirks were compared between the vendors'
 * documentation, client libraries and public catalogues. Embeddings are `yes` where the vendor documents
 * them in the OpenAI format; whether an abort ends billing is OpenRouter's published list, except for
 * local servers.
 */
export const providers: readonly Provider[] = [...makers, ...hosts, ...others]

const registered = new Set(providers.map(({ options }) => options.headers))

/** Returns whether headers are a built-in provider's own: a default, which no operator has chosen. */
export const isRegistered = (headers: Provider['options']['headers']): boolean =>
  registered.has(headers)

const keys = new Set(providers.map(({ key }) => key))

/** Returns whether a provider is a built-in one, not one that an operator added. */
export const isBuiltIn = (key: string): boolean => keys.has(key)
