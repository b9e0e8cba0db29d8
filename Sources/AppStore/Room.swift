// App Store Connect: see the publisher of TestFlight.
