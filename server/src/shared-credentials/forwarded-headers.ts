import { withAllowed, type SharedUse } from './credential'
import { withoutDate } from './messages-body'

/**
 * Kinds of Anthropic's betas, without their dates, that change how a request is read and answered. Not those of what
 * an account holds (files, skills, agents, profiles, threads, tunnels), nor those by which another model answers.
 * `published-lists.test.ts` compares them with the SDK's.
 */
export const anthropicBetas: ReadonlySet<string> = new Set([
  'computer-use',
  'code-execution',
  'mcp-client',
  'prompt-caching',
  'extended-cache-ttl',
  'output-128k',
  'output-300k',
  'context-1m',
  'context-management',
  'compact',
  'pdfs',
  'model-context-window-exceeded',
  'token-efficient-tools',
  'token-counting',
  'inline-tools',
  'dev-full-thinking',
  'interleaved-thinking',
  'thinking-token-count',
  'thinking-display-updates',
  'thinking-binding-controls',
  'structured-outputs',
  'task-budgets',
  'fast-mode',
  'mid-conversation-tool-changes',
  'mid-conversation-output-config',
  'mid-conversation-system-clear-at',
  // Of features that are no betas any more, or that Claude Code asks for.
  'claude-code',
  'fine-grained-tool-streaming',
  'effort',
  'advanced-tool-use',
  'web-search',
  'web-fetch',
  'tool-search-tool',
  'tool-examples',
  'prompt-caching-scope',
  'redact-thinking',
  'adaptive-thinking',
  'mid-conversation-system',
])

/** OpenAI's betas of Responses: Codex sends it. Not `responses_multi_agent`. */
export const openAiBetas: ReadonlySet<string> = new Set(['responses=experimental'])

/** Versions of Anthropic's format. https://docs.claude.com/en/api/versioning */
export const anthropicVersions: ReadonlySet<string> = new Set([
  '2023-01-01',
  '2023-06-01',
  '2026-10-21',
])

/** Returns those of the headers that belong to a body which a provider gets with a shared credential. */
export function toSharedHeaders(
  headers: Readonly<Record<string, string>>,
  { credential, omit }: SharedUse,
): Readonly<Record<string, string>> {
  const shared: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const knownValues = toKnownValues(name, value, { credential, omit })
    if (knownValues !== '') shared[name] = knownValues
  }
  return shared
}

function toKnownValues(name: string, value: string, { credential, omit }: SharedUse): string {
  const list = listOf(name)
  // A header without values of its own, of those that `protocols/` forwards.
  if (!list) return value
  const knownBetas = withAllowed(list, credential, 'betas')
  const values = value.split(',').flatMap((one) => one.trim() || [])
  const unknown = values.filter((one) => !knownBetas.has(one) && !knownBetas.has(withoutDate(one)))
  for (const one of unknown) omit(`${name}.${one}`)
  return unknown.length === 0 ? value : values.filter((one) => !unknown.includes(one)).join(',')
}

function listOf(name: string): ReadonlySet<string> | undefined {
  switch (name) {
    case 'anthropic-beta':
      return anthropicBetas
    case 'openai-beta':
      return openAiBetas
    case 'anthropic-version':
      return anthropicVersions
    default:
      return undefined
  }
}
