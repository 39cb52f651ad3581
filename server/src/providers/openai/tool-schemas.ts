import { isObject, type JsonObject } from '../../wire/json-body'

/**
 * The tools of a request for a provider that wants an object at the root of `parameters` and no
 * `$schema`; client libraries send both otherwise. Nothing deeper is touched.
 */
export const toPlainTools = (tools: unknown): unknown => eachTool(tools, toPlain)

/**
 * Returns the tools with `properties` on objects at the root: OpenAI refuses those without, Anthropic
 * takes them.
 */
export function withProperties(tools: unknown): unknown {
  if (!Array.isArray(tools) || !tools.some(lacksProperties)) return tools
  return eachTool(tools, (schema) =>
    isWithoutProperties(schema) ? { ...schema, properties: {} } : schema,
  )
}

const isWithoutProperties = (schema: unknown): schema is JsonObject =>
  isObject(schema) && schema['type'] === 'object' && !isObject(schema['properties'])

const lacksProperties = (tool: unknown): boolean =>
  isObject(tool) &&
  isObject(tool['function']) &&
  isWithoutProperties(tool['function']['parameters'])

const eachTool = (tools: unknown, change: (parameters: unknown) => unknown): unknown =>
  Array.isArray(tools) ? tools.map((tool: unknown) => withParameters(tool, change)) : tools

function withParameters(tool: unknown, change: (parameters: unknown) => unknown): unknown {
  if (!isObject(tool) || !isObject(tool['function'])) return tool
  const definition = tool['function']
  return { ...tool, function: { ...definition, parameters: change(definition['parameters']) } }
}

function toPlain(parameters: unknown): JsonObject {
  const { $schema: _schema, ...schema } = isObject(parameters) ? parameters : {}
  return schema['type'] === 'object' ? schema : { properties: {}, ...schema, type: 'object' }
}
