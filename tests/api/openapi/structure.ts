const text = { type: 'string', minLength: 1 }
const named = (value: object) => ({ type: 'object', additionalProperties: value })

const media = {
  type: 'object',
  required: ['schema'],
  properties: {
    schema: { type: 'object' },
    examples: named({
      type: 'object',
      required: ['value'],
      properties: { summary: text, value: {} },
      additionalProperties: false,
    }),
  },
  additionalProperties: false,
}

const parameter = {
  type: 'object',
  required: ['name', 'in', 'schema'],
  properties: {
    name: text,
    in: { enum: ['path', 'query', 'header', 'cookie'] },
    required: { type: 'boolean' },
    description: text,
    schema: { type: 'object' },
    example: {},
  },
  additionalProperties: false,
  // A parameter of the path is always there.
  if: { properties: { in: { const: 'path' } } },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON schema
  then: { required: ['required'], properties: { required: { const: true } } },
}

const security = { type: 'array', items: named({ type: 'array', items: text }) }

const operation = {
  type: 'object',
  required: ['operationId', 'summary', 'tags', 'security', 'responses'],
  properties: {
    operationId: text,
    summary: text,
    description: text,
    tags: { type: 'array', items: text, minItems: 1 },
    security,
    parameters: { type: 'array', items: parameter },
    requestBody: {
      type: 'object',
      required: ['content'],
      properties: { required: { type: 'boolean' }, description: text, content: named(media) },
      additionalProperties: false,
    },
    responses: {
      type: 'object',
      minProperties: 1,
      patternProperties: {
        '^[1-5]\\d\\d$': {
          type: 'object',
          required: ['description'],
          properties: { description: text, content: named(media), headers: { type: 'object' } },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
}

const methods = ['get', 'post', 'put', 'patch', 'delete']

/** The parts of an OpenAPI 3.1 document that ours has, and no others. */
export const openApiStructure = {
  type: 'object',
  required: ['openapi', 'info', 'servers', 'paths', 'components'],
  properties: {
    openapi: { type: 'string', pattern: '^3\\.1\\.\\d+$' },
    info: {
      type: 'object',
      required: ['title', 'version'],
      properties: {
        title: text,
        version: text,
        description: text,
        license: {
          type: 'object',
          required: ['name'],
          properties: { name: text, identifier: text },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
    servers: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['url'],
        properties: { url: text, description: text },
        additionalProperties: false,
      },
    },
    security,
    tags: { type: 'array', items: { type: 'object', required: ['name'] } },
    paths: {
      type: 'object',
      patternProperties: {
        '^/': {
          type: 'object',
          properties: Object.fromEntries(methods.map((method) => [method, operation])),
          additionalProperties: false,
          minProperties: 1,
        },
      },
      additionalProperties: false,
    },
    components: {
      type: 'object',
      properties: {
        schemas: {
          type: 'object',
          propertyNames: { pattern: '^[A-Z][A-Za-z0-9]*$' },
          additionalProperties: { type: 'object' },
        },
        securitySchemes: named({
          type: 'object',
          required: ['type', 'scheme'],
          properties: { type: { const: 'http' }, scheme: { const: 'bearer' }, description: text },
          additionalProperties: false,
        }),
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
}
