class Pipectl < Formula
  desc "Delivery pipeline on your own machine: tests changes as merged, releases on merge"
  version "@VERSION@"
  license "Apache-2.0"
@TARBALLS@

  on_macos do
    depends_on "libgit2"
    depends_on "zstd"
  end
  on_linux do
    depends_on "bubblewrap"
    depends_on "krb5"
    depends_on "libssh2"
    depends_on "pcre2"
    depends_on "sqlite"
    depends_on "zlib"
    depends_on "zstd"
  end

  def install
    bin.install "bin/pipectl"
    (lib/"pipectl").install Dir["lib/pipectl/*"]
    (libexec/"pipectl").install Dir["libexec/pipectl/*"]
    bin.install_symlink libexec/"pipectl/pipectl-agent"
    bash_completion.install "share/bash-completion/completions/pipectl"
    zsh_completion.install "share/zsh/site-functions/_pipectl"
    fish_completion.install "share/fish/vendor_completions.d/pipectl.fish"
    doc.install "README.md", "docs"
  end

  service do
    run [opt_bin/"pipectl", "watch"]
    keep_alive true
    environment_variables PATH: std_service_path_env
    error_log_path var/"log/pipectl.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/pipectl --version")
    system bin/"pipectl", "doctor", "--help"
    system bin/"pipectl-agent", "--protocol"
  end
end
