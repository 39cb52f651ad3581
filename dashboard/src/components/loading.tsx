import { Center, Loader } from '@mantine/core'

export const Loading = () => (
  <Center mih={240}>
    <Loader role="img" aria-label="Loading" />
  </Center>
)
