import { dirname, join } from 'node:path'
import type { Client } from '../clients'
import type { Prepared } from '../prepare'

/** The upstreams that there are, by the format in which Tollgate asks them. */
export type UpstreamFormat = 'chat' | 'messages' | 'google' | 'responses'

/** What one run of an agent is given. */
export interface AgentRun {
  prepared: Prepared
  /** Empty folders of this run. */
  home: string
  cwd: string
  /** Of the gateway, without a path. */
  url: string
  key: string
  model: string
  prompt: string
  /** A file that the prompt may name. */
  file: string
  /** The program of an MCP server, where the agent is to have one. */
  mcp: { command: readonly string[]; env: Readonly<Record<string, string>> } | undefined
}

/** How an agent is started. */
export interface AgentStart {
  command: readonly string[]
  env: Readonly<Record<string, string>>
  /** Files that it reads first, by path. */
  files: Readonly<Record<string, string>>
  /** What is written to its standard input. */
  stdin?: string
}

/** A published agent. */
export interface Agent extends Client {
  formats: readonly UpstreamFormat[]
  /** Models that it knows by name, by the format in which Tollgate asks for them. */
  models?: Readonly<Partial<Record<UpstreamFormat, string>>>
  /** Models for which it sends its tools in the input of Responses; each has turns of its own. */
  modelsWithToolsInInput?: readonly string[]
  /** It edits files by what the model says, and has neither tools nor an MCP client. */
  hasNoTools?: boolean
  start: (run: AgentRun) => AgentStart
}

const packagesOf = ({ cwd }: Prepared) => join(cwd, 'node_modules')
const nodeOf = ({ command: [node = ''] }: Prepared) => node
const platform = `${process.platform}-${process.arch}`

const toml = JSON.stringify

/** Of gpt-4o. */
const modelLimits = { context: 128_000, output: 16_384 }

function codex({ prepared, home, url, key, model, prompt, mcp }: AgentRun): AgentStart {
  const [command, ...args] = mcp?.command ?? []
  const server = mcp && [
    '[mcp_servers.words]',
    `command = ${toml(command)}`,
    `args = ${toml(args)}`,
    `env = { WORD = ${toml(mcp.env['WORD'])} }`,
  ]
  const config = [
    `model = ${toml(model)}`,
    'model_provider = "tollgate"',
    'check_for_update_on_startup = false',
    '[analytics]',
    'enabled = false',
    '[model_providers.tollgate]',
    'name = "Tollgate"',
    `base_url = ${toml(`${url}/v1`)}`,
    'env_key = "TOLLGATE_API_KEY"',
    'wire_api = "responses"',
    ...(server ?? []),
  ]
  const program = join(packagesOf(prepared), '@openai/codex/bin/codex.js')
  const flags = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
  return {
    command: [nodeOf(prepared), program, 'exec', ...flags, '-'],
    env: { TOLLGATE_API_KEY: key, CODEX_HOME: join(home, '.codex') },
    files: { [join(home, '.codex/config.toml')]: `${config.join('\n')}\n` },
    stdin: prompt,
  }
}

function claudeCode({ prepared, home, url, key, model, prompt, mcp }: AgentRun): AgentStart {
  const [command, ...args] = mcp?.command ?? []
  const servers = mcp ? { words: { type: 'stdio', command, args, env: mcp.env } } : {}
  const settings = join(home, 'mcp.json')
  const program = join(packagesOf(prepared), '@anthropic-ai/claude-code/cli-wrapper.cjs')
  const flags = ['--mcp-config', settings, '--strict-mcp-config', '--model', model]
  const allowed = ['--allowedTools', 'Bash', 'Read', 'mcp__words__lookup_word']
  return {
    command: [nodeOf(prepared), program, '-p', ...flags, ...allowed],
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CONFIG_DIR: join(home, '.claude'),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
    },
    files: { [settings]: JSON.stringify({ mcpServers: servers }) },
    stdin: prompt,
  }
}

function opencode({ prepared, home, cwd, url, key, model, prompt, mcp }: AgentRun): AgentStart {
  const program = join(packagesOf(prepared), `opencode-${platform}/bin/opencode`)
  const config = {
    share: 'disabled',
    autoupdate: false,
    permission: 'allow',
    provider: {
      tollgate: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Tollgate',
        options: { baseURL: `${url}/v1`, apiKey: key },
        // Without limits opencode asks for answers of 32,000 tokens.
        models: { [model]: { name: 'A model', tool_call: true, limit: modelLimits } },
      },
    },
    ...(mcp && {
      mcp: { words: { type: 'local', command: mcp.command, environment: mcp.env, enabled: true } },
    }),
  }
  const switches = ['AUTOUPDATE', 'MODELS_FETCH', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS', 'SHARE']
  return {
    command: [program, 'run', '--pure', '--title', 'A run', '--model', `tollgate/${model}`],
    env: {
      ...Object.fromEntries(switches.map((name) => [`OPENCODE_DISABLE_${name}`, '1'])),
      OPENCODE_CONFIG: join(home, 'opencode.json'),
      XDG_CONFIG_HOME: join(home, '.config'),
      XDG_DATA_HOME: join(home, '.local'),
      XDG_CACHE_HOME: join(home, '.cache'),
      XDG_STATE_HOME: join(home, '.state'),
      PWD: cwd,
    },
    files: { [join(home, 'opencode.json')]: JSON.stringify(config) },
    stdin: prompt,
  }
}

function aider({ prepared, home, url, key, model, prompt, file }: AgentRun): AgentStart {
  // Not by the script beside it, whose first line names the folder that the interpreter was made in.
  const [interpreter = ''] = prepared.command
  const message = join(home, 'message.txt')
  const quiet = ['--no-git', '--no-check-update', '--analytics-disable', '--no-show-model-warnings']
  const plain = ['--yes-always', '--no-pretty', '--no-detect-urls', '--no-suggest-shell-commands']
  const written = join(dirname(file), 'written.txt')
  const task = ['--edit-format', 'whole', '--message-file', message]
  return {
    command: [
      interpreter,
      '-m',
      'aider',
      '--model',
      `openai/${model}`,
      ...quiet,
      ...plain,
      ...task,
      written,
    ],
    env: {
      OPENAI_API_BASE: `${url}/v1`,
      OPENAI_API_KEY: key,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    },
    files: { [message]: prompt.replaceAll(file, written) },
  }
}

function agentsSdk({ prepared, home, url, key, model, prompt, mcp }: AgentRun): AgentStart {
  const message = join(home, 'message.txt')
  const [interpreter = '', program = ''] = prepared.command
  return {
    command: [interpreter, join(prepared.cwd, program)],
    env: {
      ...prepared.env,
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: key,
      MODEL: model,
      MESSAGE_FILE: message,
      ...(mcp && { MCP_COMMAND: JSON.stringify(mcp.command), ...mcp.env }),
    },
    files: { [message]: prompt },
  }
}

const node = { language: 'node' } as const
const python = { language: 'python' } as const

/** In the order of the table. */
export const agents: readonly Agent[] = [
  {
    ...node,
    name: 'codex',
    label: 'Codex',
    program: 'codex',
    packages: ['@openai/codex'],
    formats: ['responses', 'chat', 'messages'],
    models: { responses: 'openai/gpt-6-sol' },
    modelsWithToolsInInput: [
      'openai/gpt-5.6-luna',
      'openai/gpt-5.6-sol',
      'openai/gpt-5.6-terra',
      'openai/gpt-6-astra',
      'openai/gpt-6-luna',
      'openai/gpt-6-sol',
      'openai/gpt-6.1-sol',
      'openai/gpt-6.1-terra',
    ],
    start: codex,
  },
  {
    ...node,
    name: 'claude-code',
    label: 'Claude Code',
    program: 'claude-code',
    packages: ['@anthropic-ai/claude-code'],
    formats: ['messages', 'chat', 'google'],
    start: claudeCode,
  },
  {
    ...node,
    name: 'opencode',
    label: 'opencode',
    program: 'opencode',
    // The package of all platforms names those that a registry need not have.
    packages: ['opencode-linux-x64'],
    formats: ['chat', 'messages', 'google'],
    start: opencode,
  },
  {
    ...python,
    name: 'aider',
    label: 'aider',
    program: 'aider',
    packages: ['aider-chat'],
    formats: ['chat', 'messages', 'google'],
    hasNoTools: true,
    start: aider,
  },
  {
    ...python,
    name: 'openai-agents',
    label: 'OpenAI Agents SDK for Python',
    program: 'openai-agents',
    packages: ['openai-agents'],
    formats: ['responses', 'messages', 'google'],
    start: agentsSdk,
  },
]
