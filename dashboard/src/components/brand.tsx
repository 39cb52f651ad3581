import { Group, Text } from '@mantine/core'
import { useServiceName } from '../api/installation'
import icon from '../icon.svg'

/** The sign and the name of this service. */
export function Brand() {
  const name = useServiceName()
  return (
    <Group gap="xs" wrap="nowrap">
      <img src={icon} alt="" width={26} height={26} />
      <Text fw={700} size="lg" truncate maw={{ base: 150, sm: 320 }}>
        {name}
      </Text>
    </Group>
  )
}
