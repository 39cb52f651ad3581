import { Badge, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ownOrganizationsQuery } from '../collections/queries'
import type { Gateway } from './queries'
import { organizationsQuery } from '../organizations/queries'

/** Returns the name of the owner of a gateway or a connection: the user or an organization. */
export function useOwnerName({ organization_id: id }: Pick<Gateway, 'organization_id'>): string {
  const { data: organizations = [] } = useQuery(organizationsQuery)
  if (id === null) return 'Personal'
  return organizations.find((one) => one.id === id)?.name ?? 'An organization'
}

/** The owner of a gateway, and whether it is public. */
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

/** Whether the user may delete a gateway: their own, or one of an organization they manage. */
export function useMayDelete({ organization_id: id }: Gateway): boolean {
  const { data: organizations = [] } = useQuery(ownOrganizationsQuery)
  return id === null || organizations.some((one) => one.id === id)
}
