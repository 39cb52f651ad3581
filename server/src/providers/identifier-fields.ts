/** Top-level fields of requests that name an end user, or a prompt cache, to a provider. */
export const identifierFields = [
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'user_id',
  'session_id',
  'cache_salt',
  'prompt_cache_isolation_key',
] as const
export type IdentifierField = (typeof identifierFields)[number]

/** The formats whose identifiers are top-level fields. */
export type IdentifierFormat = 'chat' | 'completions' | 'embeddings' | 'images' | 'responses'

/** The fields that a provider is known to accept, by format. */
export type ProviderIdentifiers = Readonly<
  Partial<Record<IdentifierFormat, readonly IdentifierField[] | undefined>>
>

interface IdentifiedRoute {
  model: { upstreamModel: string }
  provider: { dialect: string; options: { identifiers: ProviderIdentifiers } }
  connection: { options: { identifiers?: readonly IdentifierField[] } }
}

const none: readonly IdentifierField[] = []

/** Returns the fields that a provider is known to accept in a request of a format; `url`: one that is no usual path. */
export function getIdentifierFields(
  { provider, connection, model }: IdentifiedRoute,
  format: IdentifierFormat,
  url: string | undefined,
): readonly IdentifierField[] {
  const knownFields = provider.options.identifiers[format] ?? none
  if (provider.dialect === 'azure') return onAzure(knownFields, model.upstreamModel, url)
  const { identifiers: added } = connection.options
  return added && (format === 'chat' || format === 'completions')
    ? [...knownFields, ...added]
    : knownFields
}

/** OpenAI's models on Azure, by the beginnings of their names. Those with open weights are served as other makers'. */
const openAiModels = /^(gpt-(?!oss)|o\d|chatgpt|codex|computer-use|text-embedding-|davinci|babbage)/

const classic: readonly IdentifierField[] = ['user']

/** Azure has models of other makers, which refuse unknown fields, and older surfaces, which know one alone. */
function onAzure(knownFields: readonly IdentifierField[], model: string, url: string | undefined) {
  if (knownFields.length === 0 || !openAiModels.test(model)) return none
  return url?.includes('/openai/v1/') ? knownFields : classic
}
