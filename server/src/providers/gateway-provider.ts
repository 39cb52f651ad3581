import type { Provider } from './provider'

const derived = new WeakMap<Provider, Provider>()

/**
 * Returns a provider as a self-hosted gateway serves it: in the format of OpenAI's chats, whatever the
 * provider's own dialect, at an address and with a secret that only the gateway knows.
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
    },
  }
}
