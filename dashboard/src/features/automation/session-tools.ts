import type { ChatType } from './queries'
import { byUse, type Gateway } from '../gateways/queries'

/** The form fields that select a session's tools. */
export interface ToolFields {
  sessionType: ChatType
  /** Empty for a session without tools. */
  gatewayId: string
  /** Includes tools that the gateway adds later. */
  hasAllTools: boolean
  enabledTools: string[]
}

export const withoutTools: ToolFields = {
  sessionType: 'chat',
  gatewayId: '',
  hasAllTools: true,
  enabledTools: [],
}

/** Session types. Source: docs/concepts/automation.md. */
export const chatTypes = [
  { value: 'chat', label: 'Chat without tools' },
  { value: 'remote_chat', label: 'Chat with tools of a gateway' },
  { value: 'automation', label: 'Automation with tools of a gateway' },
] as const satisfies readonly { value: ChatType; label: string }[]

/** The gateways whose tools the user may run; a viewer of an organization may not. */
export const usableGateways = (
  gateways: readonly Gateway[],
  organizations: readonly { id: string; role: string; status: string }[],
): Gateway[] => {
  const open = new Set(
    organizations.flatMap(({ id, role, status }) =>
      role === 'viewer' || status !== 'active' ? [] : [id],
    ),
  )
  return byUse(gateways.filter(({ organization_id: id }) => id === null || open.has(id)))
}

/** Validates the fields. */
export const toolRules = {
  gatewayId: (gatewayId: string, { sessionType }: ToolFields) =>
    sessionType !== 'chat' && gatewayId === '' ? 'Select a gateway.' : null,
  enabledTools: (chosen: string[], { sessionType, hasAllTools }: ToolFields) =>
    sessionType !== 'chat' && !hasAllTools && chosen.length === 0 ? 'Select at least one.' : null,
}

/** The fields in the shape the API expects. */
export const sentTools = ({ sessionType, gatewayId, hasAllTools, enabledTools }: ToolFields) =>
  sessionType === 'chat' ? {} : { sessionType, gatewayId, ...(!hasAllTools && { enabledTools }) }
