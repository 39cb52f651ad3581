import {
  Button,
  Checkbox,
  CloseButton,
  Collapse,
  Group,
  Input,
  PasswordInput,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import type { FormErrors, UseFormReturnType } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { CertificateList } from './certificates'
import { newHeader, type Network, type NetworkFields } from './network-fields'

/** The parts of a form with a network that this section uses. */
interface NetworkForm extends Pick<
  UseFormReturnType<{ network: NetworkFields }>,
  'getInputProps' | 'insertListItem' | 'removeListItem'
> {
  values: { network: NetworkFields }
  errors: FormErrors
}

interface Props {
  form: NetworkForm
  /** The stored network; without it the connection has none. */
  shown?: Network | null | undefined
}

const pem = {
  autosize: true,
  minRows: 2,
  maxRows: 8,
  spellCheck: false,
  autoComplete: 'off',
  styles: { input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } },
} as const

/** Certificates, headers and the proxy of a connection; folded until it is opened, or one of them has an error. */
export function NetworkSection({
  form,
  shown,
  hasProxy = false,
}: Props & {
  /** Whether the connection may have a proxy. */
  hasProxy?: boolean
}) {
  const [isOpen, { toggle }] = useDisclosure()
  const isExpanded = isOpen || Object.keys(form.errors).some((path) => path.startsWith('network.'))
  return (
    <div>
      <Group gap="xs">
        <Button
          size="compact-sm"
          variant="subtle"
          ml={-8}
          onClick={toggle}
          aria-expanded={isExpanded}
          leftSection={<span aria-hidden>{isExpanded ? '▾' : '▸'}</span>}
        >
          Network
        </Button>
        <Text size="xs" c="dimmed">
          {hasProxy ? 'Certificates, a proxy, request headers' : 'Certificates, request headers'}
        </Text>
      </Group>
      <Collapse expanded={isExpanded}>
        {isExpanded && (
          <Stack gap="sm" pt="xs">
            <Authorities form={form} shown={shown} />
            <ClientCertificate form={form} shown={shown} />
            {hasProxy && <Proxy form={form} />}
            <Headers form={form} />
          </Stack>
        )}
      </Collapse>
    </div>
  )
}

function Authorities({ form, shown }: Props) {
  const certificates = shown?.certificate_authorities ?? []
  const isStored = certificates.length > 0
  return (
    <>
      <Textarea
        label="Certificate authorities"
        description="PEM, instead of the system's authorities, if the provider's certificate is signed by your own"
        placeholder={isStored ? 'Paste PEM to replace the stored ones' : undefined}
        {...pem}
        {...form.getInputProps('network.certificate_authorities')}
      />
      {isStored && (
        <>
          <CertificateList certificates={certificates} />
          <Checkbox
            label="Remove the certificate authorities"
            {...form.getInputProps('network.removesAuthorities', { type: 'checkbox' })}
          />
        </>
      )}
    </>
  )
}

function ClientCertificate({ form, shown }: Props) {
  const certificate = shown?.client_certificate
  return (
    <>
      <Textarea
        label="Client certificate"
        description="PEM, with the certificates between it and its authority (mutual TLS)"
        placeholder={certificate ? 'Paste PEM to replace the stored one' : undefined}
        {...pem}
        {...form.getInputProps('network.client_certificate')}
      />
      <Textarea
        label="Key of the client certificate"
        description={
          certificate
            ? 'A key is stored; it is never shown. Paste one to replace it, together with its certificate.'
            : 'PEM without a passphrase; stored encrypted and never shown again'
        }
        {...pem}
        {...form.getInputProps('network.client_key')}
      />
      {certificate && (
        <>
          <CertificateList certificates={[certificate]} />
          <Checkbox
            label="Remove the client certificate and its key"
            {...form.getInputProps('network.removesCertificate', { type: 'checkbox' })}
          />
        </>
      )}
    </>
  )
}

const Proxy = ({ form }: Props) => (
  <>
    <TextInput
      label="Proxy"
      description="http, https or socks5, with host and port; it resolves the provider's host name"
      placeholder="http://proxy.example:3128"
      maxLength={500}
      {...form.getInputProps('network.proxy.url')}
    />
    {form.values.network.proxy.url !== '' && (
      <>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput
            label="User of the proxy"
            maxLength={255}
            autoComplete="off"
            {...form.getInputProps('network.proxy.username')}
          />
          <PasswordInput
            label="Password of the proxy"
            description="Enter it again with each change of the proxy"
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            autoComplete="off"
            {...form.getInputProps('network.proxy.password')}
          />
        </SimpleGrid>
        {form.values.network.proxy.url.startsWith('https:') && (
          <Textarea
            label="Certificate authorities of the proxy"
            description="PEM, instead of the system's; enter them again with each change of the proxy"
            {...pem}
            {...form.getInputProps('network.proxy.certificate_authorities')}
          />
        )}
      </>
    )}
  </>
)

function Headers({ form }: Props) {
  const { headers } = form.values.network
  const add = () => form.insertListItem('network.headers', newHeader(headers))
  return (
    <Input.Wrapper
      label="Request headers"
      labelElement="div"
      description="Sent to the provider with each request. Values are stored encrypted and never shown again; with another base URL enter them again."
    >
      <Stack gap="xs" mt={4}>
        {headers.map((header, position) => (
          <HeaderRow key={header.id} form={form} position={position} isStored={header.isStored} />
        ))}
        <Group>
          <Button size="compact-sm" variant="default" onClick={add}>
            Add header
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  )
}

function HeaderRow({
  form,
  position,
  isStored,
}: {
  form: NetworkForm
  position: number
  isStored: boolean
}) {
  const path = `network.headers.${position}`
  const label = `header ${position + 1}`
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap">
      <TextInput
        aria-label={`Name of ${label}`}
        placeholder="X-Name"
        maxLength={100}
        readOnly={isStored}
        style={{ flex: 1 }}
        {...form.getInputProps(`${path}.name`)}
      />
      <PasswordInput
        aria-label={`Value of ${label}`}
        placeholder={isStored ? 'Stored' : 'Value'}
        autoComplete="off"
        style={{ flex: 1 }}
        {...form.getInputProps(`${path}.value`)}
      />
      <CloseButton
        mt={4}
        aria-label={`Remove ${label}`}
        onClick={() => form.removeListItem('network.headers', position)}
      />
    </Group>
  )
}
