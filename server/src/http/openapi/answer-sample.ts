import type { Components, JsonSchema } from './json-schema'

const digits = '01k9z3t6c8q4v7x2m5n0p1r3s4'
const moment = '2026-01-31T09:30:00.000Z'

/** Prefixes of ids by their objects. Source: contract 1.3. */
const prefixes: Readonly<Record<string, string>> = {
  user: 'user',
  account: 'user',
  organization: 'org',
  key: 'key',
  api_key: 'key',
  invitation: 'inv',
  inv: 'inv',
  alert: 'alert',
  budget: 'budget',
  trigger: 'trg',
  notification: 'ntf',
  transaction: 'txn',
  checkout: 'cs',
  payment: 'cs',
  connection: 'conn',
  connection_pool: 'pool',
  plan: 'plan',
  prompt: 'prompt',
  model_collection: 'coll',
  model_mapping: 'map',
  mapping: 'map',
  rating: 'rating',
  quota_request: 'qreq',
  ticket: 'ticket',
  ticket_comment: 'comment',
  automation_session: 'sess',
  session: 'sess',
  automation_message: 'msg',
  automation_template: 'tmpl',
  template: 'tmpl',
  request: 'req',
  request_log: 'req',
  public_provider: 'prov',
  provider_profile: 'prof',
  inference_server: 'isrv',
  member: 'user',
  made_key: 'key',
  rotated_key: 'key',
  request_log_details: 'req',
  log: 'req',
  created_alert: 'alert',
  alert_trigger: 'trg',
  recent_trigger: 'trg',
  ticket_row: 'ticket',
  funding_organization: 'org',
  primary_organization: 'org',
  provider: 'prov',
  made_gateway: 'gw',
  gateway: 'gw',
  reference: 'req',
  public_organization: 'org',
}

/** Names of fields that are nullable, and null for most objects. */
const oftenEmpty = /error|next_cursor|deprecated|closed|resolved|completed|gateway_id|tool_call/

const snake = (name: string) => name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()

/** Sample texts by field name; the first match applies. */
const texts: readonly (readonly [RegExp, string])[] = [
  [/_?email$/, 'ada@example.com'],
  [/(^|_)(at|start|end|timestamp|date)$/, moment],
  [/(url|website|link|avatar)$/, 'https://example.com'],
  [/model$|^model_id$|model_prefix/, 'openai/gpt-4o-mini'],
  [/provider(_key)?$/, 'openai'],
  [/^key$/, 'sk-tg-...'],
  [/^token$/, 'gt-tg-...'],
  [/^connect_url$/, 'wss://tollgate.example/gateway'],
  [/prefix$/, 'sk-tg-6rHINF'],
  [/color$/, '#1d4ed8'],
  [/pattern$/, 'gpt-4o'],
  [/domain$/, 'example.com'],
  [/finish_reason/, 'stop'],
  [/^(tag|category|department|variable|tier|region)$/, 'example'],
  [/currency/, 'USD'],
  [/slug|handle/, 'example'],
  [/ip_address/, '203.0.113.7'],
  [/user_agent/, 'OpenAI/JS 7.57.0'],
  [/endpoint$/, '/v1/chat/completions'],
  [/method$/, 'POST'],
  [/ticket_number/, 'TKT-000012'],
  [/cursor$/, 'a2V5XzAx'],
  [/version$/, '0.1.0'],
  [/(name|title|subject|author)$/, 'An example'],
]

const numbers: readonly (readonly [RegExp, number])[] = [
  [/^limit$/, 50],
  [/^offset$/, 0],
  [/status_code/, 200],
  [/context/, 128_000],
  [/tokens/, 1200],
  [/(_ms|latency|duration)$/, 850],
  [/(cost|price|charge|fee|spent|revenue)/, 0.0042],
  [/(balance|amount|minimum|threshold)/, 10],
  [/(rate|percent|percentage)$/, 97.5],
  [/rpm|requests_per_minute/, 60],
]

/** The position of a value: its field's name, and the object that the field belongs to. */
interface SamplePosition {
  field: string
  owner: string
}

/** Builds a sample value of a schema, deterministic and realistic, by the names of fields. */
export class AnswerSample {
  readonly #components: Components

  constructor(components: Components) {
    this.#components = components
  }

  of(schema: JsonSchema, position: SamplePosition = { field: '', owner: '' }): unknown {
    const { $ref, examples, enum: values } = schema
    if ($ref !== undefined) return this.#component($ref.split('/').at(-1) ?? '', position)
    if (examples && examples.length > 0) return examples[0]
    if ('const' in schema) return schema.const
    if (values && values.length > 0) return values[0]
    const choices = schema.anyOf ?? schema.oneOf
    if (choices) return this.#choice(choices, position)
    if (schema.allOf)
      return Object.assign({}, ...schema.allOf.map((member) => this.of(member, position)))
    return this.#plain(schema, position)
  }

  #component(name: string, { field }: SamplePosition): unknown {
    const component = this.#components[name]
    return component
      ? this.of(component, { field, owner: snake(name).replace(/^listed_/, '') })
      : null
  }

  /** Prefers present values to null, except for fields that only some objects have. */
  #choice(choices: readonly JsonSchema[], position: SamplePosition): unknown {
    const present = choices.find(({ type }) => type !== 'null') ?? {}
    const isEmpty = choices.some(({ type }) => type === 'null') && oftenEmpty.test(position.field)
    return isEmpty ? null : this.of(present, position)
  }

  #plain(schema: JsonSchema, position: SamplePosition): unknown {
    if (
      Array.isArray(schema.type) &&
      schema.type.includes('null') &&
      oftenEmpty.test(position.field)
    ) {
      return null
    }
    const [type = ''] = [schema.type ?? ''].flat().filter((one) => one !== 'null')
    switch (type) {
      case 'object':
        return this.#object(schema, position)
      case 'array':
        return schema.items
          ? [this.of(schema.items, { ...position, field: singular(position.field) })]
          : []
      case 'string':
        return textFor(schema, position)
      case 'integer':
        return Math.max(schema.minimum ?? 0, Math.round(numberFor(position.field, 1)))
      case 'number':
        return Math.max(schema.minimum ?? 0, numberFor(position.field, 1.5))
      case 'boolean':
        return !/^(has_more|hasMore|low_|payment_method_required|estimated)/.test(position.field)
      default:
        return null
    }
  }

  #object(schema: JsonSchema, { field, owner }: SamplePosition): unknown {
    const { properties = {}, additionalProperties, required = ['example'] } = schema
    const inner = owner || singular(field)
    const fields = Object.entries(properties).map(([name, schema]) => [
      name,
      this.of(schema, { field: snake(name), owner: name === 'id' ? inner : '' }),
    ])
    const isOpen = typeof additionalProperties === 'object' && fields.length === 0
    const open = isOpen
      ? required.map((name) => [name, this.of(additionalProperties, { field, owner: '' })])
      : []
    return Object.fromEntries([...fields, ...open])
  }
}

const singular = (name: string) => name.replace(/ies$/, 'y').replace(/s$/, '')

const numberFor = (field: string, other: number) =>
  numbers.find(([pattern]) => pattern.test(field))?.[1] ?? other

function textFor({ format, pattern }: JsonSchema, { field, owner }: SamplePosition): string {
  if (format === 'date') return moment.slice(0, 10)
  if (format === 'date-time') return moment
  const [, objectName] = /^(\w+)_id$/.exec(field) ?? []
  const prefix = prefixes[(field === 'id' ? owner : objectName) ?? '']
  if (prefix !== undefined) return `${prefix}_${digits}`
  if (field === 'id' && owner.endsWith('model')) return 'openai/gpt-4o-mini'
  if (pattern?.startsWith('^collection')) return 'collection/example'
  return texts.find(([one]) => one.test(field))?.[1] ?? 'Some text'
}
