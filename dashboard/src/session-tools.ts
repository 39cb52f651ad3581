import type { TalkType } from './automation'
import { byUse, type Gateway } from './gateways'

/** What of a form says whose tools a session has. */
export interface ToolFields {
  sessionType: TalkType
  /** Empty for a session without tools. */
  gatewayId: string
  /** Those of a gateway that come later are among them. */
  hasAllTools: boolean
  enabledTools: string[]
}

export const withoutTools: ToolFields = {
  sessionType: 'chat',
  gatewayId: '',
  hasAllTools: true,
  enabledTools: [],
}

/** The types of sessions. Source: docs/automation.md. */
export const talkTypes = [
  { value: 'chat', label: 'Chat without tools' },
  { value: 'remote_chat', label: 'Chat with tools of a gateway' },
  { value: 'automation', label: 'Automation with tools of a gateway' },
] as const satisfies readonly { value: TalkType; label: string }[]

/** Those that somebody may run tools of: not one of an organization that lets them only look. */
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

/** What is wrong with each field; null for nothing. */
export const toolRules = {
  gatewayId: (gatewayId: string, { sessionType }: ToolFields) =>
    sessionType !== 'chat' && gatewayId === '' ? 'Choose a gateway.' : null,
  enabledTools: (chosen: string[], { sessionType, hasAllTools }: ToolFields) =>
    sessionType !== 'chat' && !hasAllTools && chosen.length === 0 ? 'Choose at least one.' : null,
}

/** The fields as the service takes them. */
export const sentTools = ({ sessionType, gatewayId, hasAllTools, enabledTools }: ToolFields) =>
  sessionType === 'chat' ? {} : { sessionType, gatewayId, ...(!hasAllTools && { enabledTools }) }
