import { Badge, Text } from '@mantine/core'
import { gatewayStates, meaningOf, type Gateway } from './queries'

/** The state of a gateway with an explanation. */
export const GatewayState = ({ gateway }: { gateway: Gateway }) => (
  <>
    <Badge color={gatewayStates[gateway.status].color} variant="light">
      {gateway.status}
    </Badge>
    <Text size="xs" c="dimmed">
      {meaningOf(gateway)}
    </Text>
  </>
)
