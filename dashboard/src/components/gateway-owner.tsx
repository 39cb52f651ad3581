import { Badge, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ownOrganizationsQuery } from '../collections'
import type { Gateway } from '../gateways'
import { organizationsQuery } from '../organizations'

/** The name of whoever has a gateway or a connection: oneself, or an organization. */
export function useOwnerName({ organization_id: id }: Pick<Gateway, 'organization_id'>): string {
  const { data: organizations = [] } = useQuery(organizationsQuery)
  if (id === null) return 'Yours alone'
  return organizations.find((one) => one.id === id)?.name ?? 'An organization'
}

/** Whose it is, and whether anybody may see it. */
export const GatewayOwner = ({ gateway }: { gateway: Gateway }) => (
  <Group gap={6}>
    <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
      {useOwnerName(gateway)}
    </Text>
    {gateway.is_public && (
      <Badge variant="outline" size="sm">
        public
      </Badge>
    )}
  </Group>
)

/** Whether the reader may delete it: one's own, or an organization's that one runs. */
export function useMayDelete({ organization_id: id }: Gateway): boolean {
  const { data: organizations = [] } = useQuery(ownOrganizationsQuery)
  return id === null || organizations.some((one) => one.id === id)
}
