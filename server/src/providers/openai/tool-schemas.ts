import { isObject, type JsonObject } from '../../wire/json-body'

/**
 * The tools of a request for a provider that wants an object at the root of `parameters` and no
 * `$schema`; client libraries send both otherwise. Nothing deeper is touched.
 */
export const toPlainTools = (tools: unknown): unknown =>
  Array.isArray(tools) ? tools.map(toPlainTool) : tools

function toPlainTool(tool: unknown): unknown {
  if (!isObject(tool) || !isObject(tool['function'])) return tool
  const definition = tool['function']
  return { ...tool, function: { ...definition, parameters: toPlain(definition['parameters']) } }
}

function toPlain(parameters: unknown): JsonObject {
  const { $schema: _schema, ...schema } = isObject(parameters) ? parameters : {}
  return schema['type'] === 'object' ? schema : { properties: {}, ...schema, type: 'object' }
}
