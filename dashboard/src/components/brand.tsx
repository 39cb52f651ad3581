import { Group, Text } from '@mantine/core'
import icon from '../icon.svg'

export const Brand = () => (
  <Group gap="xs" wrap="nowrap">
    <img src={icon} alt="" width={26} height={26} />
    <Text fw={700} size="lg">
      Tollgate
    </Text>
  </Group>
)
