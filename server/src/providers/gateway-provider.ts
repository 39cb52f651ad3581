import type { Provider } from './provider'

const derived = new WeakMap<Provider, Provider>()

/**
 * Returns a provider as a self-hosted gateway serves it: in the formats of OpenAI, whatever the provider's own dialect, at an
 * address and with a secret that only the gateway knows.
 */
export function toGatewayProvider(provider: Provider): Provider {
  let gatewayProvider = derived.get(provider)
  if (!gatewayProvider) {
    gatewayProvider = providerOf(provider)
    derived.set(provider, gatewayProvider)
  }
  return gatewayProvider
}

function providerOf(provider: Provider): Provider {
  const { options, dialect } = provider
  const paths = dialect === 'openai' ? options.paths : {}
  return {
    ...provider,
    dialect: 'openai',
    options: {
      ...options,
      paths,
      responsesModels: {},
      takesResponses: false,
      images: { ...options.images, form: 'openai' },
      // The others have paths and headers of their own, which a gateway does not pass on.
      speech: { ...options.speech, form: options.speech.form === 'mistral' ? 'mistral' : 'openai' },
      transcriptionFormat: options.transcriptionFormat === 'mistral' ? 'mistral' : 'openai',
    },
  }
}
