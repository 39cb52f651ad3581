import {
  createTheme,
  Drawer,
  Modal,
  type CSSVariablesResolver,
  type MantineColorsTuple,
} from '@mantine/core'

const brand: MantineColorsTuple = [
  '#e3fafc',
  '#c5f0f4',
  '#99e1e8',
  '#66d0da',
  '#3bbfcc',
  '#1ca9b8',
  '#1098ad',
  '#0b7285',
  '#095c6b',
  '#064854',
]

/** A cross says nothing to who cannot see it. */
const closeButtonProps = { 'aria-label': 'Close' }

export const theme = createTheme({
  components: {
    Drawer: Drawer.extend({ defaultProps: { closeButtonProps } }),
    Modal: Modal.extend({ defaultProps: { closeButtonProps } }),
  },
  colors: { brand },
  primaryColor: 'brand',
  primaryShade: 7,
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '600' },
})

/** The hues of badges, whose darkest shade alone is too bright for small text on their own tint. */
const hues = ['green', 'orange', 'yellow', 'teal', 'cyan', 'blue', 'violet', 'red']
const darker = Object.fromEntries(
  hues.map((hue) => [
    `--mantine-color-${hue}-light-color`,
    `color-mix(in srgb, var(--mantine-color-${hue}-9) 70%, black)`,
  ]),
)

/** What is dimmed, or stands on a tint, is still read: 4.5 to 1 against what is behind it. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: { '--mantine-color-dimmed': 'var(--mantine-color-gray-7)', ...darker },
  dark: { '--mantine-color-dimmed': 'var(--mantine-color-dark-1)' },
})
