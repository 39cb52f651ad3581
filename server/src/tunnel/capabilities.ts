import { mediaFeature, type ToGateway, type GatewayHello } from './frames'
import { isCallable } from '../catalog/discovered-models'
import type { AnnouncedModel, AnnouncedTool } from '../platform/db/gateway-schema'
import { storable } from '../platform/db/storable'

type Refused = Extract<ToGateway, { type: 'welcome' }>['refused']

/** The models and tools of a gateway, as far as they were accepted. */
export interface Capabilities {
  version: string
  /** Keys of enabled providers, each once. */
  providers: readonly string[]
  models: readonly AnnouncedModel[]
  tools: readonly AnnouncedTool[]
  /** Whether it serves a model, by the name that its server has for it. */
  serves: (provider: string, name: string) => boolean
  /** Whether it serves images and sound. */
  takesMedia: boolean
  refused: Refused
}

/** The maximum length of a tool's `parameters`, as JSON text. */
const maxParameterLength = 16 * 1024
/** The maximum number of refused entries that a gateway is informed of. */
const maxReported = 100

/** Characters that PostgreSQL cannot store, and unpaired surrogates, as JSON writes them. */
const unkept = /\\u(0000|d[89a-f])/i

/** Splits a hello into accepted and refused entries. */
export function toCapabilities(hello: GatewayHello, providers: ReadonlySet<string>): Capabilities {
  const refused: Refused = []
  const refuse = (kind: Refused[number]['what'], name: string, reason: string): false => {
    if (refused.length < maxReported) refused.push({ what: kind, name, reason })
    return false
  }
  const acceptedProviders = [...new Set(hello.providers)].filter(
    (key) => providers.has(key) || refuse('provider', key, 'This provider does not exist.'),
  )
  const knownNames = new Set<string>()
  const models = hello.models.filter(({ provider, name }) => {
    if (!acceptedProviders.includes(provider))
      return refuse('model', name, 'Its provider is not offered by this gateway.')
    if (!isCallable(name)) return refuse('model', name, 'The name is not a valid model name.')
    const id = `${provider}/${name}`
    return knownNames.has(id) ? false : Boolean(knownNames.add(id))
  })
  const names = new Set<string>()
  const tools = hello.tools.filter(({ name, parameters }) => {
    if (names.has(name)) return refuse('tool', name, 'Another one has the same name.')
    const text = JSON.stringify(parameters)
    if (text.length > maxParameterLength) {
      return refuse('tool', name, 'Its parameters have more than 16 kB.')
    }
    if (unkept.test(text))
      return refuse('tool', name, 'Its parameters contain an invalid character.')
    return Boolean(names.add(name))
  })
  return {
    version: storable(hello.version),
    providers: acceptedProviders,
    models,
    tools: tools.map(({ name, description, parameters }) => ({
      name,
      description: storable(description),
      parameters,
    })),
    serves: (provider, name) => knownNames.has(`${provider}/${name}`),
    takesMedia: hello.features.includes(mediaFeature),
    refused,
  }
}
